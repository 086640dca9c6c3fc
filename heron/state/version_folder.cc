#include "heron/state/version_folder.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <thread>

#include "heron/base/random.h"
#include "heron/state/file_system.h"
#include "heron/state/path.h"
#include "heron/state/value_file.h"

namespace heron::state {
namespace {

constexpr size_t kDigits = 20;
// Versions left in place, so that readers seldom find theirs gone. Removed in one go when there are
// more.
constexpr int64_t kVersionsKept = 2;
constexpr size_t kVersionsBeforeRemoval = 4;
// A folder without versions is what a removed node looks like; a listing that lost a race may look
// so too.
constexpr int kEmptyListings = 3;
constexpr int64_t kHighestVersion = INT64_MAX - 1;

std::string Digits(int64_t version) {
  char text[kDigits + 1];
  std::snprintf(text, sizeof(text), "%020" PRId64, version);
  return text;
}

// The number in "v.NUMBER" or "t.NUMBER.x"; nothing for names that are not ours.
std::optional<int64_t> NumberIn(std::string_view name, char kind) {
  if (name.size() < 2 + kDigits || name[0] != kind || name[1] != '.') return std::nullopt;
  std::string_view rest = name.substr(2 + kDigits);
  if (kind == 'v' ? !rest.empty() : !rest.starts_with(".")) return std::nullopt;
  int64_t number = 0;
  const char* end = name.data() + 2 + kDigits;
  auto [at, error] = std::from_chars(name.data() + 2, end, number);
  if (error != std::errc() || at != end || number <= 0 || number > kHighestVersion) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string VersionFolder::VersionFile(int64_t version) const {
  return path_ + "/v." + Digits(version);
}

Result<VersionFolder::Listing> VersionFolder::List() const {
  auto entries = ReadFolder(path_);
  if (!entries.ok()) return entries.status();
  Listing listing;
  if (!entries->has_value()) return listing;
  listing.exists = true;
  for (FolderEntry& entry : **entries) {
    if (std::optional<int64_t> version = NumberIn(entry.name, 'v')) {
      listing.versions.push_back(*version);
    } else if (std::optional<int64_t> target = NumberIn(entry.name, 't')) {
      listing.temps.push_back({std::move(entry.name), *target});
    }
  }
  std::sort(listing.versions.begin(), listing.versions.end());
  return listing;
}

Result<VersionFolder::Current> VersionFolder::Read(std::string* value) const {
  for (int empty = 0; empty < kEmptyListings;) {
    Result<Listing> listing = List();
    if (!listing.ok()) return listing.status();
    if (!listing->exists) return Current{};
    if (listing->versions.empty()) {
      ++empty;
      std::this_thread::yield();
      continue;
    }
    Current current{State::kValue, listing->versions.back()};
    std::string file = VersionFile(current.version);
    // Without `value` only a tombstone is of interest, and that is a header and nothing else.
    auto bytes = value != nullptr ? ReadWholeFile(file, kValueHeaderBytes + kMaxValueBytes)
                                  : ReadSmallFile(file, kValueHeaderBytes);
    if (!bytes.ok()) {
      if (value == nullptr && bytes.status().code() == StatusCode::kDataLoss) return current;
      return bytes.status();
    }
    if (!bytes->has_value()) continue;
    if (value == nullptr && (*bytes)->size() != kValueHeaderBytes) return current;
    Result<DecodedValue> decoded = DecodeValueFile(**bytes, file);
    if (!decoded.ok()) {
      // A damaged value is there: it can be overwritten and deleted, not read.
      if (value == nullptr) return current;
      return decoded.status();
    }
    if (decoded->tombstone) current.state = State::kTombstone;
    if (value != nullptr) {
      (*bytes)->erase(0, kValueHeaderBytes);
      *value = std::move(**bytes);
    }
    return current;
  }
  return Current{};
}

Result<VersionFolder::Current> VersionFolder::ReadCurrent() const { return Read(nullptr); }

Result<VersionFolder::Written> VersionFolder::WriteNext(int64_t version, std::string_view value,
                                                        bool tombstone) const {
  if (version >= kHighestVersion) return DataLoss(path_ + ": there is no version after the last");
  int64_t next = version + 1;
  std::string temp = path_ + "/t." + Digits(next) + "." + ToHex(RandomBytes(8));
  Step("next: begin");
  Result<FileDescriptor> file =
      WriteNewFile(temp, EncodeValueHeader(value, tombstone), value, context_.sync);
  if (!file.ok()) {
    if (file.status().code() == StatusCode::kNotFound) return Written::kLost;
    return file.status();
  }
  Step("next: file written");
  Result<Listing> listing = List();
  Status status = listing.status();
  bool lost = listing.ok() && (listing->versions.empty() || listing->versions.back() != version);
  Step("next: listed");
  if (status.ok() && (lost || !Exists(VersionFile(version)))) {
    RemoveFile(temp).IgnoreError();
    return Written::kLost;
  }
  if (!status.ok()) {
    RemoveFile(temp).IgnoreError();
    return status;
  }
  Step("next: checked");
  Result<FileAnswer> answer = PublishFile(*file, temp, VersionFile(next));
  Step("next: linked");
  // Left-overs are removed later by others; the write is what counts.
  RemoveFile(temp).IgnoreError();
  if (!answer.ok()) return answer.status();
  if (*answer != FileAnswer::kDone) return Written::kLost;
  if (context_.sync) {
    Status synced = SyncFolder(path_);
    // Gone: it was written, deleted and swept meanwhile.
    if (!synced.ok() && synced.code() != StatusCode::kNotFound) return synced;
  }
  RemoveOldVersions(next);
  return Written::kDone;
}

Status VersionFolder::Remove(const Listing& listing, int64_t highest, int64_t up_to) const {
  for (const Listing::Temp& temp : listing.temps) {
    if (temp.target <= highest) HERON_RETURN_IF_ERROR(RemoveFile(path_ + "/" + temp.name));
  }
  Step("remove: files of lost writers removed");
  for (int64_t version : listing.versions) {
    if (version > up_to) break;
    HERON_RETURN_IF_ERROR(RemoveFile(VersionFile(version)));
    Step("remove: a version removed");
  }
  return Status::Ok();
}

void VersionFolder::RemoveOldVersions(int64_t written) const {
  Result<Listing> listing = List();
  if (!listing.ok() || listing->versions.size() <= kVersionsBeforeRemoval) return;
  // `written` was there when the listing began; that it may be old news by now does no harm.
  Step("remove: listed");
  Status status = Remove(*listing, written, written - kVersionsKept);
  LOG_IF(WARNING, !status.ok()) << "old versions stay: " << status.ToString();
}

Result<VersionFolder::Written> VersionFolder::WriteFirst(const std::string& scratch,
                                                         std::string_view value,
                                                         int64_t* version) const {
  // From 1 to 2^62: room for as many writes again.
  *version = static_cast<int64_t>(RandomUint64() >> 2) + 1;
  HERON_RETURN_IF_ERROR(MakeFolder(scratch));
  std::string file = scratch + "/v." + Digits(*version);
  Result<FileDescriptor> made =
      WriteNewFile(file, EncodeValueHeader(value, /*tombstone=*/false), value, context_.sync);
  Status status = made.status();
  if (status.ok() && context_.sync) status = SyncFolder(scratch);
  Step("first: folder written");
  Result<FileAnswer> answer = FileAnswer::kGone;
  if (status.ok()) answer = PublishFolder(scratch, path_);
  Step("first: renamed");
  if (status.ok() && answer.ok() && *answer == FileAnswer::kDone) {
    if (context_.sync) status = SyncFolder(path_.substr(0, path_.rfind('/')));
    // Gone: it was created, deleted and swept meanwhile.
    if (!status.ok() && status.code() != StatusCode::kNotFound) return status;
    return Written::kDone;
  }
  RemoveFile(file).IgnoreError();
  RemoveEmptyFolder(scratch).IgnoreError();
  HERON_RETURN_IF_ERROR(status);
  if (!answer.ok()) return answer.status();
  if (*answer == FileAnswer::kTaken) {
    // A node, or files of writers that came too late for a node that is no more. Those would be in
    // the way for ever.
    Result<Listing> listing = List();
    if (listing.ok() && listing->versions.empty()) {
      for (const Listing::Temp& temp : listing->temps) {
        HERON_RETURN_IF_ERROR(RemoveFile(path_ + "/" + temp.name));
      }
    }
  }
  return Written::kLost;
}

Result<bool> VersionFolder::Sweep(int64_t min_age_seconds) const {
  Result<Listing> listing = List();
  if (!listing.ok()) return listing.status();
  if (!listing->exists) return true;
  Step("sweep: listed");
  for (const Listing::Temp& temp : listing->temps) {
    std::string file = path_ + "/" + temp.name;
    if (AgeSeconds(file) >= min_age_seconds) HERON_RETURN_IF_ERROR(RemoveFile(file));
  }
  if (!listing->versions.empty()) {
    int64_t highest = listing->versions.back();
    std::string file = VersionFile(highest);
    auto bytes = ReadSmallFile(file, kValueHeaderBytes);
    if (!bytes.ok() || !bytes->has_value()) return false;
    Result<DecodedValue> decoded = DecodeValueFile(**bytes, file);
    if (!decoded.ok() || !decoded->tombstone || AgeSeconds(file) < min_age_seconds) return false;
    Step("sweep: tombstone seen");
    // A node created meanwhile goes on from the tombstone's number and does not need its file.
    HERON_RETURN_IF_ERROR(Remove(*listing, highest, highest));
  }
  HERON_RETURN_IF_ERROR(RemoveEmptyFolder(path_));
  return !Exists(path_);
}

}  // namespace heron::state
