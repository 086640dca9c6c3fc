// Which names are allowed, and quoting of names that are not for messages.
#pragma once

#include <string>
#include <string_view>

namespace heron::model {

inline constexpr size_t kMaxNameBytes = 128;

// [A-Za-z0-9][A-Za-z0-9_.-]{0,127}: topologies, components, streams, roles, environments. Such a
// name is also a safe file name and a safe part of a path.
bool IsName(std::string_view text);

// The allowed form, in words, for messages.
inline constexpr std::string_view kNameRule =
    "1 to 128 letters, digits, '_', '.' or '-', the first a letter or digit";

bool IsUtf8(std::string_view text);

// In single quotes, bytes that are not printable ASCII as \xNN, cut after 200 bytes: safe for logs
// and terminals.
std::string Quoted(std::string_view text);

}  // namespace heron::model
