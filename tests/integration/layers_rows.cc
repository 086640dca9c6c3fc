#include "tests/integration/layers_rows.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace heron::testing {
namespace {

std::string PathOf(const std::string& folder, const std::string& component, int64_t index) {
  return folder + "/" + component + "-" + std::to_string(index);
}

}  // namespace

void Write(const std::string& folder, const TaskRows& rows) {
  const std::string path = PathOf(folder, rows.component, rows.index);
  const std::string part = path + "." + std::to_string(getpid());
  std::ofstream out(part, std::ios::binary);
  const int64_t head[] = {rows.task, rows.container, static_cast<int64_t>(rows.rows.size())};
  out.write(reinterpret_cast<const char*>(head), sizeof head);
  out.write(reinterpret_cast<const char*>(rows.rows.data()),
            static_cast<std::streamsize>(rows.rows.size() * sizeof(Row)));
  out.close();
  if (!out || std::rename(part.c_str(), path.c_str()) != 0) {
    std::perror(path.c_str());
    std::abort();
  }
}

std::optional<TaskRows> Read(const std::string& folder, const std::string& component,
                             int64_t index) {
  std::ifstream in(PathOf(folder, component, index), std::ios::binary);
  int64_t head[3] = {};
  if (!in.read(reinterpret_cast<char*>(head), sizeof head)) return std::nullopt;
  TaskRows rows{.component = component, .index = index, .task = head[0], .container = head[1],
                .rows = {}};
  rows.rows.resize(static_cast<size_t>(head[2]));
  in.read(reinterpret_cast<char*>(rows.rows.data()),
          static_cast<std::streamsize>(rows.rows.size() * sizeof(Row)));
  if (!in) return std::nullopt;
  return rows;
}

std::string KeyOf(int64_t id) { return id % 2 == 0 ? "hot" : "key " + std::to_string(id % 1000); }

size_t DirectTarget(int64_t id, size_t tasks) { return static_cast<size_t>(id) % tasks; }

std::vector<size_t> CustomTargets(int64_t id, size_t tasks) {
  const size_t first = static_cast<size_t>(id) * 7 % tasks;
  if (id % 10 != 0) return {first};
  return {first, (first + 1) % tasks};
}

}  // namespace heron::testing
