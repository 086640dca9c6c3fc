// Compiled anew with every stamped link; what the workspace status says is then defined.
namespace tools {
namespace cli {

const char* BuildCommit() {
#ifdef BUILD_SCM_REVISION
  // "0" stands for it in a build that is not stamped.
  const char* const commit = BUILD_SCM_REVISION;
  return commit[0] == '0' && commit[1] == 0 ? "" : commit;
#else
  return "";
#endif
}

}  // namespace cli
}  // namespace tools
