// What a task of the program `layers` got, in a file; and which tasks the program's own choices name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heron::testing {

struct Row {
  int64_t id = 0;
  int64_t from = 0;  // task
};

struct TaskRows {
  std::string component;
  int64_t index = 0;
  int64_t task = 0;
  int64_t container = 0;
  std::vector<Row> rows;
};

// FOLDER/COMPONENT-INDEX, by rename. Aborts where it cannot.
void Write(const std::string& folder, const TaskRows& rows);
// None if there is no such file.
std::optional<TaskRows> Read(const std::string& folder, const std::string& component,
                             int64_t index);

// The field "key": the same for every other id.
std::string KeyOf(int64_t id);
// Indices among `tasks` tasks.
size_t DirectTarget(int64_t id, size_t tasks);
std::vector<size_t> CustomTargets(int64_t id, size_t tasks);

}  // namespace heron::testing
