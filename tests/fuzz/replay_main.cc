// Feeds stored inputs to a fuzz target, without libFuzzer: every file named, and every file of the
// folders named. Fails when there is nothing to replay, or a file cannot be read; a crash of the
// target speaks for itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

bool Collect(const std::filesystem::path& path, std::vector<std::filesystem::path>* files) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    files->push_back(path);
    return true;
  }
  std::filesystem::recursive_directory_iterator entries(path, error);
  if (error) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.message().c_str());
    return false;
  }
  for (const auto& entry : entries) {
    if (entry.is_regular_file(error)) files->push_back(entry.path());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!Collect(argv[i], &files)) return 1;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) {
      std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
      return 1;
    }
    std::printf("%s (%zu bytes)\n", file.c_str(), bytes.size());
    std::fflush(stdout);
    // A buffer of the exact size, so that the address sanitizer sees the first byte too far.
    const std::vector<uint8_t> input(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  if (files.empty()) {
    std::fprintf(stderr, "nothing to replay: name files or folders of inputs\n");
    return 1;
  }
  std::printf("%zu inputs replayed\n", files.size());
  return 0;
}
