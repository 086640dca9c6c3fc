// Strangers at every port, a state folder that cannot be written, an engine that is replaced underneath.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "heron/link/session.h"
#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::seconds;

class HostileTest : public ::testing::Test {
 protected:
  CommandResult SubmitEndless(const std::string& name) {
    return cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), name,
                           "--wait=running", "--containers", "2", "--", "endless"});
  }
  RealCluster cluster_;
};

int Connect(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

void Say(int fd, const std::string& bytes) {
  // The other side may have closed already, which is its right.
  if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

TEST_F(HostileTest, GarbageOnEveryPortHarmsNothing) {
  ASSERT_EQ(SubmitEndless("t").exit_code, 0) << cluster_.Logs("t");
  auto before = cluster_.Processes();
  std::mt19937 random(3);
  std::string noise(100000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string huge_length = "\xff\xff\xff\x7f\x01\x00\x00\x00";
  const std::string empty_hello = std::string("\x00\x00\x00\x00\x01\x00\x00\x00", 8);
  const std::string bad_hello = std::string("\x04\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff", 12);
  const std::string batch_first = std::string("\x02\x00\x00\x00\x14\x00\x00\x00\x08\x01", 10);
  int ports = 0;
  std::vector<int> silent;
  for (const auto& p : before) {
    for (const std::string& address : ListeningAddresses(p.pid)) {
      ++ports;
      auto port = static_cast<uint16_t>(std::stoul(address.substr(address.find(':') + 1), nullptr, 16));
      for (const std::string& bytes : {noise, huge_length, empty_hello, bad_hello, batch_first,
                                       std::string("GET / HTTP/1.1\r\n\r\n"), std::string()}) {
        int fd = Connect(port);
        ASSERT_GE(fd, 0) << p.command_line;
        Say(fd, bytes);
        if (bytes.empty()) {
          silent.push_back(fd);
        } else {
          close(fd);
        }
      }
    }
  }
  EXPECT_GE(ports, 6);
  int64_t executed = cluster_.ExecutedTuples("t");
  EXPECT_TRUE(Eventually(seconds(10), [&] { return cluster_.ExecutedTuples("t") > executed; }));
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  auto after = cluster_.Processes();
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].pid, before[i].pid) << after[i].command_line;
  // Silent callers are hung up on.
  for (int fd : silent) {
    char byte;
    struct timeval limit = {8, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_LE(recv(fd, &byte, 1, 0), 0);
    close(fd);
  }
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
}

class RefusedCaller : public link::SessionHandler {
 public:
  void OnSessionUp(link::Session&) override { ++up; }
  void OnFrame(link::Session&, proto::Lane, net::Frame) override {}
  void OnSessionDown(link::Session&, const Status&) override {}
  int up = 0;
};

TEST_F(HostileTest, CallersWithoutTheSecretAreRefusedEverywhere) {
  ASSERT_EQ(SubmitEndless("t").exit_code, 0) << cluster_.Logs("t");
  for (const auto& p : cluster_.Processes()) {
    for (const std::string& address : ListeningAddresses(p.pid)) {
      net::EventLoop loop;
      RefusedCaller caller;
      link::SessionDialer::Options options;
      options.self = link::MakeIdentity(proto::EXECUTOR, 1, 0, {9, 9});
      options.callee = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {});
      options.credentials = {"t", p.topology_id, std::string(32, 's')};
      options.lanes = {proto::CONTROL};
      options.on_refused = [&](const proto::Refused&) { loop.Stop(); };
      auto dialer = link::SessionDialer::Make(loop, options, &caller);
      auto port = static_cast<uint16_t>(std::stoul(address.substr(address.find(':') + 1), nullptr, 16));
      dialer->SetTarget("127.0.0.1", port, options.callee);
      loop.RunAfter(seconds(2), [&] { loop.Stop(); });  // a listener may as well hang up without a word
      loop.Run();
      EXPECT_EQ(caller.up, 0) << p.command_line;
    }
  }
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
}

TEST_F(HostileTest, EngineReplacedUnderARunningTopology) {
  ASSERT_EQ(SubmitEndless("t").exit_code, 0) << cluster_.Logs("t");
  // The processes run from the topology's own copy, not from the build tree.
  for (const auto& p : cluster_.Processes()) {
    std::error_code error;
    std::string exe = std::filesystem::read_symlink("/proc/" + std::to_string(p.pid) + "/exe", error);
    EXPECT_EQ(exe.rfind(cluster_.root() + "/", 0), 0u) << exe;
  }
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
}

TEST_F(HostileTest, StateFolderThatIsAFile) {
  cluster_.WriteFile("root", "a file where the folder should be");
  auto r = SubmitEndless("t");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find(cluster_.root()), std::string::npos) << r.err;
  EXPECT_TRUE(cluster_.Processes().empty());
}

// A file system of a given size for HERON_ROOT; needs root.
TEST_F(HostileTest, FullDiskIsNamedAndLeavesNothing) {
  std::filesystem::create_directories(cluster_.root());
  if (mount("tmpfs", cluster_.root().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "cannot mount a small file system here";
  }
  auto r = SubmitEndless("t");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("No space left"), std::string::npos) << r.err;
  EXPECT_TRUE(cluster_.Processes().empty());
  EXPECT_NE(cluster_.State("t"), "RUNNING");
  EXPECT_EQ(mount("tmpfs", cluster_.root().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k"), 0);
  auto read_only = SubmitEndless("u");
  EXPECT_EQ(read_only.exit_code, 1);
  EXPECT_NE(read_only.err.find("Read-only"), std::string::npos) << read_only.err;
  EXPECT_EQ(umount2(cluster_.root().c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace heron::testing
