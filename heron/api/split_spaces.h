// Words of a text: what stands between runs of ASCII white space (bytes 9 to 13 and 32). Views into
// the text; no copy, no empty words. Bytes from 128 are never white space, so UTF-8 stays whole.
//
//   for (std::string_view word : heron::SplitSpaces(line)) ...
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace heron {

class SplitSpaces {
 public:
  explicit SplitSpaces(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : at_(rest.data()), end_(at_ + rest.size()) { Find(); }

    std::string_view operator*() const { return {at_, size_}; }
    Iterator& operator++() {
      at_ += size_;
      Find();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.size_ == b.size_ && (a.size_ == 0 || a.at_ == b.at_);
    }

   private:
    static bool IsSpace(char c) {
      unsigned char byte = static_cast<unsigned char>(c);
      return byte == 32 || (byte >= 9 && byte <= 13);
    }
    void Find() {
      while (at_ != end_ && IsSpace(*at_)) ++at_;
      const char* stop = at_;
      while (stop != end_ && !IsSpace(*stop)) ++stop;
      size_ = static_cast<size_t>(stop - at_);
    }

    const char* at_ = nullptr;
    const char* end_ = nullptr;
    size_t size_ = 0;  // 0: the end
  };

  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return Iterator(); }

 private:
  std::string_view text_;
};

}  // namespace heron
