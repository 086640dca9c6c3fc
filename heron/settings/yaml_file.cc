#include "heron/settings/yaml_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace heron::settings {
namespace {

// Follows the parser's events. Stays quiet after the first problem, whatever comes.
class Collector : public YAML::EventHandler {
 public:
  explicit Collector(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Fail(mark, "a second document; one file is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (!problem_.ok() || maps_.empty()) return;  // an empty file has a null for its document
    if (!maps_.back().key.has_value()) {
      Fail(mark, "a key is missing");
    } else {
      FailAt(maps_.back().key_line, Path() + " has no value");
    }
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "aliases (*name) are not read; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (!problem_.ok()) return;
    if (maps_.empty()) return Fail(mark, "lines must have the form \"key: value\"");
    Map& map = maps_.back();
    if (!map.key.has_value()) {
      if (value.empty()) return Fail(mark, "a key is empty");
      map.key = value;
      map.key_line = mark.line + 1;
      return;
    }
    std::string path = Path();
    if (entries_.size() >= kYamlMaxEntries) {
      return Fail(mark, "more than " + std::to_string(kYamlMaxEntries) + " keys");
    }
    auto [it, fresh] = lines_.emplace(path, map.key_line);
    if (!fresh) {
      return Fail(mark, path + " was given before, in line " + std::to_string(it->second));
    }
    entries_.push_back(YamlEntry{std::move(path), value, map.key_line});
    map.key.reset();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Fail(mark, "lists are not read; no key has one");
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (!problem_.ok()) return;
    if (maps_.size() >= kYamlMaxDepth) return Fail(mark, "nested too deeply");
    if (!maps_.empty() && !maps_.back().key.has_value()) return Fail(mark, "a map is no key");
    maps_.emplace_back();
  }
  void OnMapEnd() override {
    if (!problem_.ok()) return;
    maps_.pop_back();
    if (!maps_.empty()) maps_.back().key.reset();
  }

  const Status& problem() const { return problem_; }
  std::vector<YamlEntry>& entries() { return entries_; }

 private:
  struct Map {
    std::optional<std::string> key;  // read, its value comes
    int key_line = 0;
  };

  void Fail(const YAML::Mark& mark, const std::string& what) { FailAt(mark.line + 1, what); }
  void FailAt(int line, const std::string& what) {
    if (!problem_.ok()) return;
    problem_ = InvalidArgument(file_ + ":" + std::to_string(line) + ": " + what);
  }

  std::string Path() const {
    std::string path;
    for (const Map& map : maps_) {
      if (!path.empty()) path += '.';
      path += map.key.value_or("");
    }
    return path;
  }

  const std::string& file_;
  int documents_ = 0;
  Status problem_;
  std::vector<Map> maps_;
  std::map<std::string, int> lines_;
  std::vector<YamlEntry> entries_;
};

}  // namespace

Result<std::vector<YamlEntry>> ParseYaml(std::string_view text, const std::string& file) {
  if (text.size() > kYamlMaxBytes) {
    return InvalidArgument(file + ": larger than " + std::to_string(kYamlMaxBytes) + " bytes");
  }
  Collector collector(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (collector.problem().ok() && parser.HandleNextDocument(collector)) {
    }
  } catch (const YAML::Exception& e) {
    if (!collector.problem().ok()) return collector.problem();
    return InvalidArgument(file + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg);
  } catch (const std::exception& e) {
    return InvalidArgument(file + ": not readable as yaml: " + e.what());
  }
  if (!collector.problem().ok()) return collector.problem();
  return std::move(collector.entries());
}

Result<std::vector<YamlEntry>> ReadYamlFile(const std::string& file) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "re"),
                                                         &std::fclose);
  if (stream == nullptr) return ErrnoStatus(errno, file);
  std::string text(kYamlMaxBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
  if (std::ferror(stream.get()) != 0) return ErrnoStatus(errno, file);
  return ParseYaml(text, file);
}

}  // namespace heron::settings
