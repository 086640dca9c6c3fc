// Shows long work step by step. On a terminal the current step is redrawn in place and ticked off;
// elsewhere each change is a plain line, without colours.
#pragma once

#include <ostream>
#include <string>

namespace tools::cli {

class Progress {
 public:
  Progress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
  ~Progress() { Break(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The step that is under way now, e.g. ("containers", "up 1 of 3"). The same step again changes
  // its detail; another one ticks off the step before.
  void Step(const std::string& step, const std::string& detail = "");

  // A line of its own that stays.
  void Note(const std::string& line);

  // The current step is done.
  void Finish();

 private:
  void Break();  // leaves a step that is not done

  std::ostream& out_;
  const bool terminal_;
  std::string step_;
  std::string detail_;
};

}  // namespace tools::cli
