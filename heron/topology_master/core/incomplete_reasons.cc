#include "heron/topology_master/core/incomplete_reasons.h"

#include <cstdlib>
#include <utility>

namespace heron::topology_master {

namespace {

constexpr char kMorePrefix[] = "and ";
constexpr char kMoreSuffix[] = " more";

// The N of "and N more"; 0 for any other line.
uint64_t ParseMore(const std::string& line) {
  if (line.rfind(kMorePrefix, 0) != 0) return 0;
  char* end = nullptr;
  const uint64_t count = std::strtoull(line.c_str() + sizeof kMorePrefix - 1, &end, 10);
  return std::string(end) == kMoreSuffix ? count : 0;
}

// How often a line "PREFIX (..." or "PREFIX N times (..." says that it happened.
uint64_t ParseTimes(const std::string& line, size_t prefix_size) {
  char* end = nullptr;
  const char* begin = line.c_str() + prefix_size;
  const uint64_t times = std::strtoull(begin, &end, 10);
  return end == begin || times == 0 ? 1 : times;
}

}  // namespace

IncompleteReasons::IncompleteReasons(
    const google::protobuf::RepeatedPtrField<std::string>& stored) {
  for (const std::string& line : stored) {
    if (const uint64_t more = ParseMore(line); more > 0) {
      more_ += more;
    } else if (lines_.size() < kMaxLines) {
      lines_.push_back(line);
    } else {
      ++more_;
    }
  }
}

std::string* IncompleteReasons::Find(const std::string& prefix) {
  for (std::string& line : lines_) {
    if (line.rfind(prefix, 0) != 0 || line.size() == prefix.size()) continue;
    const char next = line[prefix.size()];
    if (next == ' ' || next == ':') return &line;
  }
  return nullptr;
}

void IncompleteReasons::Add(std::string line, uint64_t times) {
  if (lines_.size() < kMaxLines) {
    lines_.push_back(std::move(line));
  } else {
    more_ += times;
  }
}

void IncompleteReasons::Happened(const std::string& prefix, const std::string& cause,
                                 const std::string& consequence, uint64_t times) {
  if (times == 0) return;
  std::string* line = Find(prefix);
  const uint64_t total = times + (line == nullptr ? 0 : ParseTimes(*line, prefix.size()));
  std::string text = prefix;
  text += total == 1 ? " (" : " " + std::to_string(total) + " times (last: ";
  text += cause + "): " + consequence;
  if (line == nullptr) {
    Add(std::move(text), times);
  } else {
    *line = std::move(text);
  }
}

void IncompleteReasons::Note(const std::string& prefix, const std::string& text, bool is_new) {
  std::string full = prefix + ": " + text;
  if (std::string* line = Find(prefix)) {
    *line = std::move(full);
  } else if (is_new || lines_.size() < kMaxLines) {
    Add(std::move(full), 1);
  }
}

void IncompleteReasons::WriteTo(google::protobuf::RepeatedPtrField<std::string>* out) const {
  out->Clear();
  for (const std::string& line : lines_) *out->Add() = line;
  if (more_ > 0) *out->Add() = kMorePrefix + std::to_string(more_) + kMoreSuffix;
}

}  // namespace heron::topology_master
