// Types of your own as fields of tuples. Specialise Serializer for the type, where every file that
// uses it sees the specialisation:
//
//   template <>
//   struct heron::Serializer<Order> {
//     static std::string TypeName() { return "shop.Order"; }
//     static void Write(const Order& order, std::string& out);   // out is empty
//     static Order Read(std::string_view bytes);
//   };
//
// Then Declares<Order>("order"), context.Output<Order>("order") and in.Get<Order>(0) work, and
// std::optional<Order> where it may be null. Protocol buffers have theirs in heron/protobuf.h.
//
// The field travels as bytes. The type's name, 1 to 128 bytes, travels with the declaration: an
// Output or a Get of another type's name throws TypeError. Raw bytes fit everywhere:
// Output<BytesView> and in.Bytes pass a field on unread.
//
// Equal values should give equal bytes: groupings by key look at the bytes. What Write throws
// leaves Emit; what Read throws leaves Get as a SerializerError that names the field (Unrecoverable
// stays one). Both count as thrown by the component. Thread: the task's.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace heron {

template <typename T>
struct Serializer;

// There is a Serializer<T>.
template <typename T>
concept UserType = requires(const T& value, std::string& out, std::string_view bytes) {
  { Serializer<T>::TypeName() } -> std::convertible_to<std::string>;
  Serializer<T>::Write(value, out);
  { Serializer<T>::Read(bytes) } -> std::convertible_to<T>;
};

}  // namespace heron
