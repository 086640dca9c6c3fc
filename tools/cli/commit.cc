// Compiled anew with every stamped link; what the workspace status says is then defined.
namespace tools::cli {

const char* BuildCommit() {
#ifdef BUILD_SCM_REVISION
  return BUILD_SCM_REVISION;
#else
  return "";
#endif
}

}  // namespace tools::cli
