// Shared, immutable bytes. A BufferSlice keeps the memory it points into alive; copying one copies no bytes, so a frame
// received from one connection is sent on another without touching its payload.
//
// Thread-safe in the way shared_ptr is: slices of one buffer may live in several threads, the bytes are not written
// after the first slice was shared.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace heron {

class BufferSlice {
 public:
  BufferSlice() = default;
  BufferSlice(std::shared_ptr<const void> owner, const char* data, size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  static BufferSlice Copy(std::string_view bytes) {
    auto owner = std::shared_ptr<char[]>(new char[bytes.size() + 1]);
    if (!bytes.empty()) std::memcpy(owner.get(), bytes.data(), bytes.size());
    const char* data = owner.get();
    return BufferSlice(std::shared_ptr<const void>(std::move(owner)), data, bytes.size());
  }

  static BufferSlice Take(std::string bytes) {
    auto owner = std::make_shared<std::string>(std::move(bytes));
    const char* data = owner->data();
    size_t size = owner->size();
    return BufferSlice(std::move(owner), data, size);
  }

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  BufferSlice Sub(size_t offset, size_t length) const {
    return BufferSlice(owner_, data_ + offset, length);
  }

 private:
  std::shared_ptr<const void> owner_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace heron
