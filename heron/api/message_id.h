// What a spout names a tuple by that it wants to hear of again: a 64-bit number or a text of its
// own, an offset or a key say. The engine looks at neither; equal ones may be pending at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace heron {

class MessageId {
 public:
  MessageId() = default;
  template <std::integral Number>
  explicit MessageId(Number number) : number_(static_cast<int64_t>(number)) {}
  explicit MessageId(std::string_view text) : text_(std::make_unique<std::string>(text)) {}
  MessageId(const MessageId& other)
      : number_(other.number_),
        text_(other.text_ == nullptr ? nullptr : std::make_unique<std::string>(*other.text_)) {}
  MessageId(MessageId&&) noexcept = default;
  MessageId& operator=(MessageId other) noexcept {
    number_ = other.number_;
    text_ = std::move(other.text_);
    return *this;
  }

  bool is_number() const { return text_ == nullptr; }
  int64_t number() const { return number_; }  // 0 of a text
  const std::string& text() const {           // empty of a number
    static const std::string kEmpty;
    return text_ == nullptr ? kEmpty : *text_;
  }

  friend bool operator==(const MessageId& a, const MessageId& b) {
    return a.number_ == b.number_ && a.is_number() == b.is_number() && a.text() == b.text();
  }
  friend std::ostream& operator<<(std::ostream& out, const MessageId& id) {
    return id.is_number() ? out << id.number_ : out << '\'' << id.text() << '\'';
  }

 private:
  int64_t number_ = 0;
  std::unique_ptr<std::string> text_;
};

// Why a tuple failed. It may have been executed nevertheless, by some or all.
enum class FailReason {
  kFailed,   // a bolt failed it, or a tuple that came of it
  kTimeout,  // not acknowledged within topology.message.timeout.ms
  kLost,     // a process on its way died, and it was not acknowledged soon after
};

}  // namespace heron
