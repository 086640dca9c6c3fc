// Answers --heron-describe-fd=N -- MODE in the way that MODE says.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "proto/topology.pb.h"

namespace {

std::string WordCount(uint32_t parallelism) {
  heron::proto::Topology topology;
  topology.set_name("word-count");
  topology.set_api_version(1);
  auto* lines = topology.add_components();
  lines->set_name("lines");
  lines->set_kind(heron::proto::SPOUT);
  lines->set_parallelism(parallelism);
  lines->set_bounded(true);
  auto* output = lines->add_outputs();
  output->set_name("default");
  auto* field = output->add_fields();
  field->set_name("line");
  field->set_type(heron::proto::STRING);
  auto* count = topology.add_components();
  count->set_name("count");
  count->set_kind(heron::proto::BOLT);
  count->set_parallelism(2);
  auto* input = count->add_inputs();
  input->set_component("lines");
  input->set_stream("default");
  input->set_grouping(heron::proto::SHUFFLE);
  return topology.SerializeAsString();
}

void Put(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = write(fd, bytes.data() + done, bytes.size() - done);
    if (put <= 0) _exit(9);
    done += static_cast<size_t>(put);
  }
}

[[noreturn]] void Hang() {
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = "--heron-describe-fd=";
  if (argc < 4 || strncmp(argv[1], option.c_str(), option.size()) != 0 ||
      strcmp(argv[2], "--") != 0) {
    return 3;
  }
  const int fd = atoi(argv[1] + option.size());
  const std::string mode = argv[3];
  if (mode == "good") {
    printf("hello from stdout\n");
    fflush(stdout);
    Put(fd, WordCount(2));
    return 0;
  }
  if (mode == "crash") {
    fprintf(stderr, "about to crash\n");
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  if (mode == "exit") {
    for (int i = 1; i <= 30; ++i) fprintf(stderr, "complaint %d\n", i);
    return 7;
  }
  if (mode == "empty") return 0;
  if (mode == "rubbish") Put(fd, "\xFF\xFF\xFF no topology");
  if (mode == "hang") Hang();
  if (mode == "written-hang") {
    Put(fd, WordCount(2));
    close(fd);
    Hang();
  }
  if (mode == "endless") {
    for (;;) Put(fd, std::string(1 << 16, 'x'));
  }
  if (mode == "grandchild") {  // a process that stays behind, holding every descriptor
    if (argc < 5) return 3;
    const pid_t child = fork();
    if (child == 0) Hang();
    FILE* file = fopen(argv[4], "w");
    fprintf(file, "%d", static_cast<int>(child));
    fclose(file);
    Put(fd, WordCount(2));
    return 0;
  }
  if (mode == "descriptors") {  // exit code: number of open descriptors that are not ours
    struct stat info;
    int foreign = 0;
    for (int n = 4; n < 200; ++n) foreign += fstat(n, &info) == 0 ? 1 : 0;
    char byte;
    if (read(STDIN_FILENO, &byte, 1) != 0) ++foreign;  // /dev/null is at its end
    if (getpgrp() != getpid()) ++foreign;
    if (foreign > 0) return foreign;
    Put(fd, WordCount(2));
  }
  if (mode == "arguments") {  // exactly the bytes after --
    if (argc != 6 || strcmp(argv[4], "") != 0 || strcmp(argv[5], "--wait a\nb") != 0) return 8;
    Put(fd, WordCount(2));
  }
  return 0;
}
