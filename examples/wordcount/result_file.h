// The result of the word count as a file: lines "word<TAB>count", most frequent first, ties by word in byte order. Written
// beside its target and renamed, so that a reader never sees half of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wordcount {

struct Row {
  std::string word;
  int64_t count;
};

// Both throw heron::Unrecoverable naming the path and the reason.
void CheckWritable(const std::string& path);
void WriteRows(const std::string& path, std::vector<Row> rows);

}  // namespace wordcount
