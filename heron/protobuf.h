// Protocol buffers as fields of tuples: Declares<shop::Order>("order"), in.Get<shop::Order>(0).
// Equal messages give equal bytes within one version of the protocol buffers library. The program
// links that library: //heron:protobuf with Bazel.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heron/api/serializer.h"

template <std::derived_from<google::protobuf::MessageLite> Message>
struct heron::Serializer<Message> {
  static std::string TypeName() { return Message::default_instance().GetTypeName(); }

  static void Write(const Message& message, std::string& out) {
    if (!message.IsInitialized()) {
      throw std::runtime_error(TypeName() + " lacks " + message.InitializationErrorString());
    }
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message.SerializeToCodedStream(&coded)) {
      throw std::runtime_error(TypeName() + " cannot be written: it is larger than 2 GiB");
    }
  }

  static Message Read(std::string_view bytes) {
    Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      throw std::runtime_error(std::to_string(bytes.size()) + " bytes that are no " + TypeName());
    }
    return message;
  }
};
