// Compiled anew with every stamped link, with the label that was given to it.
namespace tools {
namespace cli {

const char* BuildCommit() {
#ifdef BUILD_EMBED_LABEL
  // "redacted" stands for it in a build that is not stamped.
  const char* const commit = BUILD_EMBED_LABEL;
  return commit[0] == 'r' ? "" : commit;
#else
  return "";
#endif
}

}  // namespace cli
}  // namespace tools
