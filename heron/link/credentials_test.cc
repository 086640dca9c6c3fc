#include "heron/link/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace heron::link {
namespace {

class SecretFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes, mode_t mode) {
    const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/secret";
    std::ofstream(path, std::ios::binary) << bytes;
    chmod(path.c_str(), mode);
    return path;
  }
};

TEST_F(SecretFileTest, ReadsRawBytes) {
  std::string secret(kSecretBytes, '\0');
  secret[5] = '\n';
  auto read = ReadSecretFile(Write(secret, 0600));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, secret);
}

TEST_F(SecretFileTest, RefusesAFileThatOthersMayRead) {
  for (mode_t mode : {0640, 0604, 0644, 0660}) {
    auto read = ReadSecretFile(Write(std::string(kSecretBytes, 'k'), mode));
    EXPECT_EQ(read.status().code(), StatusCode::kPermissionDenied) << std::oct << mode;
    EXPECT_NE(read.status().message().find("chmod 600"), std::string::npos);
  }
}

TEST_F(SecretFileTest, RefusesAnotherSizeAMissingFileAndAFolder) {
  EXPECT_FALSE(ReadSecretFile(Write(std::string(kSecretBytes - 1, 'k'), 0600)).ok());
  EXPECT_FALSE(ReadSecretFile(Write(std::string(kSecretBytes + 1, 'k'), 0600)).ok());
  EXPECT_FALSE(ReadSecretFile(Write("", 0600)).ok());
  EXPECT_EQ(ReadSecretFile("/no/such/file").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(ReadSecretFile(std::getenv("TEST_TMPDIR")).ok());
}

}  // namespace
}  // namespace heron::link
