#include "tests/integration/layers_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "heron/model/field_view.h"
#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"
#include "heron/routing/partial_key.h"

namespace heron::testing {
namespace {

using model::FieldView;

constexpr int kShownProblems = 8;

class Problems {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    if (++count_ > kShownProblems) return;
    (text_ << ... << parts) << "\n";
  }
  std::string text() const {
    std::string text = text_.str();
    if (count_ > kShownProblems) text += "... " + std::to_string(count_) + " in all\n";
    return text;
  }

 private:
  std::ostringstream text_;
  int count_ = 0;
};

uint64_t HashOf(int64_t id, const std::vector<uint32_t>& fields) {
  const std::string key = KeyOf(id);
  const FieldView values[] = {FieldView::Int64(id), FieldView::String(key),
                              FieldView::Int64(id % 3)};
  return routing::HashKey(values, fields);
}

// Which readers (by index) may get this id; `copies`: how many of them must.
struct Targets {
  std::vector<size_t> readers;
  size_t copies = 1;
};

Targets TargetsOf(const std::string& grouping, int64_t id, int64_t container,
                  const std::vector<TaskRows>& readers) {
  const size_t n = readers.size();
  Targets all;
  for (size_t i = 0; i < n; ++i) all.readers.push_back(i);
  if (grouping == "all") return {all.readers, n};
  if (grouping == "global") return {{0}, 1};
  if (grouping == "direct") return {{DirectTarget(id, n)}, 1};
  if (grouping == "custom") {
    std::vector<size_t> targets = CustomTargets(id, n);
    const size_t copies = targets.size();
    return {std::move(targets), copies};
  }
  if (grouping == "fields") {
    const uint32_t tasks = static_cast<uint32_t>(n);
    const uint32_t groups = routing::DefaultKeyGroups(tasks);
    return {{routing::OwnerOf(routing::KeyGroupOf(HashOf(id, {1, 2}), groups), groups, tasks)}, 1};
  }
  if (grouping == "partial-key") {
    const auto two = routing::TasksOfKey(HashOf(id, {1}), static_cast<uint32_t>(n));
    return {{two.first, two.second}, 1};
  }
  if (grouping == "local-or-shuffle") {
    Targets near;
    for (size_t i = 0; i < n; ++i) {
      if (readers[i].container == container) near.readers.push_back(i);
    }
    if (!near.readers.empty()) return near;
  }
  return all;
}

}  // namespace

std::string WrongPlaces(const std::string& grouping, const std::vector<Emitted>& emitters,
                        const std::vector<TaskRows>& readers) {
  Problems problems;
  std::map<int64_t, int64_t> container_of;
  for (const Emitted& emitter : emitters) container_of[emitter.task] = emitter.container;
  for (size_t i = 0; i < readers.size(); ++i) {
    for (const Row& row : readers[i].rows) {
      auto container = container_of.find(row.from);
      if (container == container_of.end()) {
        problems.Add(readers[i].component, "[", i, "] got id ", row.id, " from task ", row.from,
                     ", which does not emit to it");
        continue;
      }
      const Targets targets = TargetsOf(grouping, row.id, container->second, readers);
      if (std::find(targets.readers.begin(), targets.readers.end(), i) == targets.readers.end()) {
        problems.Add(readers[i].component, "[", i, "] got id ", row.id, " from task ", row.from,
                     ", which is not its own by ", grouping);
      }
    }
  }
  return problems.text();
}

std::string WrongCounts(const std::string& grouping, const std::vector<Emitted>& emitters,
                        const std::vector<TaskRows>& readers) {
  Problems problems;
  const bool even =
      grouping == "shuffle" || grouping == "none" || grouping == "local-or-shuffle";
  for (const Emitted& emitter : emitters) {
    std::map<int64_t, size_t> want, got;  // copies by id
    for (int64_t id : emitter.ids) {
      want[id] += TargetsOf(grouping, id, emitter.container, readers).copies;
    }
    std::vector<size_t> by_reader(readers.size());
    std::vector<size_t> hot_by_reader(readers.size());
    for (size_t i = 0; i < readers.size(); ++i) {
      for (const Row& row : readers[i].rows) {
        if (row.from != emitter.task) continue;
        ++got[row.id];
        ++by_reader[i];
        hot_by_reader[i] += KeyOf(row.id) == "hot";
      }
    }
    for (const auto& [id, copies] : want) {
      const size_t there = got.count(id) != 0 ? got[id] : 0;
      if (there != copies) {
        problems.Add("id ", id, " of task ", emitter.task, " arrived ", there, " times, not ",
                     copies);
      }
    }
    for (const auto& [id, copies] : got) {
      if (want.count(id) == 0) {
        problems.Add("id ", id, " arrived ", copies, " times from task ", emitter.task,
                     ", which did not emit it");
      }
    }
    if (even) {
      const Targets targets = TargetsOf(grouping, 0, emitter.container, readers);
      const double fair =
          static_cast<double>(emitter.ids.size()) / static_cast<double>(targets.readers.size());
      for (size_t i : targets.readers) {
        const double off = static_cast<double>(by_reader[i]) - fair;
        if (std::max(off, -off) > std::max(0.01 * fair, 3.0)) {
          problems.Add(readers[i].component, "[", i, "] got ", by_reader[i], " tuples of task ",
                       emitter.task, "; even would be ", fair);
        }
      }
    }
    if (grouping == "partial-key" && readers.size() > 1 && emitter.ids.size() > 1000) {
      const size_t two = static_cast<size_t>(
          std::count_if(hot_by_reader.begin(), hot_by_reader.end(), [](size_t n) { return n > 0; }));
      const size_t hot = static_cast<size_t>(std::count_if(
          emitter.ids.begin(), emitter.ids.end(), [](int64_t id) { return KeyOf(id) == "hot"; }));
      const size_t most = *std::max_element(hot_by_reader.begin(), hot_by_reader.end());
      if (hot > 1000 && (two != 2 || most > hot * 3 / 4)) {
        problems.Add("the hot key of task ", emitter.task, " went to ", two, " tasks, ", most, " of ",
                     hot, " to one");
      }
    }
  }
  return problems.text();
}

}  // namespace heron::testing
