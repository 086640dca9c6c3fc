#include "tools/cli/progress.h"

namespace tools::cli {
namespace {

constexpr char kClearLine[] = "\r\033[K";
constexpr char kTick[] = "\033[32m\xE2\x9C\x93\033[0m ";

std::string Line(const std::string& step, const std::string& detail) {
  return detail.empty() ? step : step + " " + detail;
}

}  // namespace

void Progress::Step(const std::string& step, const std::string& detail) {
  if (step == step_ && detail == detail_) return;
  if (step != step_) Finish();
  step_ = step;
  detail_ = detail;
  if (terminal_) {
    out_ << kClearLine << "  " << Line(step_, detail_) << std::flush;
  } else {
    out_ << Line(step_, detail_) << std::endl;
  }
}

void Progress::Note(const std::string& line) {
  if (terminal_ && !step_.empty()) out_ << kClearLine;
  out_ << line << "\n";
  if (terminal_ && !step_.empty()) out_ << "  " << Line(step_, detail_);
  out_.flush();
}

void Progress::Finish() {
  if (step_.empty()) return;
  if (terminal_) out_ << kClearLine << kTick << Line(step_, detail_) << std::endl;
  step_.clear();
  detail_.clear();
}

void Progress::Break() {
  if (terminal_ && !step_.empty()) out_ << std::endl;
  step_.clear();
}

}  // namespace tools::cli
