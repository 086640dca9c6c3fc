#include "heron/model/described.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <openssl/evp.h>

namespace heron::model {

std::string SerializeDescribed(const proto::Topology& topology) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    topology.SerializeToCodedStream(&coded);
  }
  return bytes;
}

std::string DescribedSha256(std::string_view serialized) {
  std::string digest(32, '\0');
  unsigned int size = 0;
  EVP_Digest(serialized.data(), serialized.size(), reinterpret_cast<unsigned char*>(digest.data()),
             &size, EVP_sha256(), nullptr);
  return digest;
}

}  // namespace heron::model
