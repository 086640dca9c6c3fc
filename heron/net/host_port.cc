#include <charconv>

#include "heron/net/connection.h"

namespace heron::net {

Result<std::pair<std::string, uint16_t>> ParseHostPort(const std::string& text) {
  const std::string remedy =
      "'" + text + "' is not HOST:PORT, such as 127.0.0.1:4711 or [::1]:4711";
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return InvalidArgument(remedy);
  std::string host = text.substr(0, colon);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return InvalidArgument(remedy);
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return InvalidArgument(remedy + " (an IPv6 address needs brackets)");
  }
  uint16_t port = 0;
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(first, last, port);
  if (first == last || error != std::errc() || end != last) return InvalidArgument(remedy);
  return std::pair<std::string, uint16_t>(std::move(host), port);
}

std::string FormatHostPort(const std::string& host, uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace heron::net
