#include "tools/cli/explain_json.h"

#include <nlohmann/json.hpp>

namespace tools::cli {
namespace {

using Json = nlohmann::ordered_json;

Json CauseJson(const Cause& cause) {
  Json json = {{"cause", cause.code}, {"text", cause.text}};
  json["container"] = cause.container < 0 ? Json(nullptr) : Json(cause.container);
  json["component"] = cause.component;
  json["task"] = cause.task == 0 ? Json(nullptr) : Json(cause.task);
  json["more_tasks"] = cause.more_tasks;
  json["evidence"] = cause.evidence;
  json["remedies"] = Json::array();
  for (const Remedy& remedy : cause.remedies) {
    json["remedies"].push_back({{"text", remedy.what}, {"command", remedy.command}});
  }
  return json;
}

}  // namespace

std::string ExplainJson(const std::string& cluster, const ExplainFacts& facts,
                        const std::vector<Cause>& causes, const heron::Status& status) {
  Json json = {{"cluster", cluster},          {"name", facts.key.name}, {"role", facts.key.role},
               {"env", facts.key.env},        {"id", facts.row.id},     {"state", facts.row.state},
               {"cause", causes.front().code}};
  json["causes"] = Json::array();
  for (const Cause& cause : causes) json["causes"].push_back(CauseJson(cause));
  if (!status.ok()) {
    json["error"] = {{"code", std::string(heron::StatusCodeName(status.code()))},
                     {"message", status.message()}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tools::cli
