#include "hydro/run/searcher_protocol.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/search/traits.h"

namespace hydro::run {
namespace {

using search::Config;
using search::Value;

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const Config& config) {
  Json out = Json::object();
  for (const auto& [path, value] : config) {
    out[path] = to_json(value);
  }
  return out;
}

/// Four kinds stand for all distributions: real, integer, normal, options.
struct Kind {
  Json& out;

  template <search::Listed D>
  void operator()(const D& d) const {
    out["kind"] = "options";
    out["ordered"] = std::is_same_v<D, search::Ordinal>;
    out["options"] = Json::array();
    for (const Value& option : d.options) {
      out["options"].push_back(to_json(option));
    }
  }

  template <search::Normal D>
  void operator()(const D& d) const {
    out["kind"] = "normal";
    out["mean"] = d.mean;
    out["deviation"] = d.sd;
    add_step(d);
  }

  template <search::Ranged D>
  void operator()(const D& d) const {
    out["kind"] = search::Whole<D> ? "integer" : "real";
    out["low"] = d.low;
    out["high"] = d.high;
    if constexpr (search::kIsHalfOpen<D>) {
      out["high"] = d.high - 1;
    }
    out["log"] = search::kIsLog<D>;
    add_step(d);
  }

 private:
  template <class D>
  void add_step(const D& d) const {
    if constexpr (search::Stepped<D>) {
      out["step"] = d.q;
    } else {
      out["step"] = nullptr;
    }
  }
};

Json parameter_json(const search::Parameter& parameter) {
  Json out = {{"path", parameter.path},
              {"name", parameter.name},
              {"distribution", std::string(search::distribution_name(parameter.distribution))},
              {"condition", nullptr}};
  std::visit(Kind{out}, parameter.distribution);
  if (parameter.condition) {
    out["condition"] = {{"path", parameter.condition->parameter},
                        {"option", parameter.condition->branch}};
  }
  return out;
}

std::string_view ending_name(search::Ending ending) {
  switch (ending) {
    case search::Ending::kFinished:
      return "finished";
    case search::Ending::kStopped:
      return "stopped";
    case search::Ending::kFailed:
      return "failed";
  }
  return {};
}

Error garbage(const std::string& line, const std::string& why) {
  constexpr std::size_t kShown = 200;
  return make_error("H0722", "answered `" + printable(line.substr(0, kShown)) + "`: " + why);
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>())
                                                     : std::string();
}

/// What the searcher itself says is wrong.
Error told_error(const Json& answer) {
  const bool missing = text_in(answer, "reason") == "not installed";
  Error error = make_error(missing ? "H0724" : "H0725", text_in(answer, "what"));
  const std::string remedy = text_in(answer, "do");
  return remedy.empty() ? error : std::move(error).fix(remedy);
}

std::optional<Value> value_of(const Json& json) {
  if (json.is_boolean()) {
    return Value(json.get<bool>());
  }
  if (json.is_number_integer()) {
    return Value(json.get<std::int64_t>());
  }
  if (json.is_number()) {
    return Value(json.get<double>());
  }
  return json.is_string() ? std::optional<Value>(json.get<std::string>()) : std::nullopt;
}

/// Parameters in the space's order, so that a choice is known before what is inside its
/// options.
Result<Config> read_config(const std::string& line,
                           const Json& json,
                           const search::Space& space) {
  Config config;
  for (const search::Parameter& parameter : space.parameters) {
    if (!search::is_active(parameter, config)) {
      continue;
    }
    const auto found = json.find(parameter.path);
    if (found == json.end()) {
      return garbage(line, "`" + parameter.path + "` is missing");
    }
    const auto given = value_of(*found);
    const auto value = given ? search::member(parameter.distribution, *given) : std::nullopt;
    if (!value) {
      return garbage(line, "`" + parameter.path + "` cannot be " + printable(found->dump()));
    }
    config.insert_or_assign(parameter.path, *value);
  }
  for (const auto& [key, value] : json.items()) {
    if (!config.contains(key)) {
      return garbage(line, "`" + printable(key) + "` does not belong to this configuration");
    }
  }
  return config;
}

}  // namespace

Json hello_message(const SearcherGreeting& greeting) {
  Json space = Json::array();
  for (const search::Parameter& parameter : greeting.space.parameters) {
    space.push_back(parameter_json(parameter));
  }
  return {{"type", "hello"},
          {"protocol", kSearcherProtocol},
          {"study", greeting.study},
          {"metric", greeting.metric},
          {"mode", greeting.maximize ? "max" : "min"},
          {"seed", greeting.seed},
          {"trials", greeting.trials},
          {"dedup", greeting.dedup},
          {"space", std::move(space)},
          {"sampler", greeting.sampler},
          {"arguments", Json::parse(greeting.arguments)}};
}

Json ask_message(std::int64_t k, const Config* given) {
  Json out = {{"type", "ask"}, {"id", k}};
  if (given != nullptr) {
    out["config"] = to_json(*given);
  }
  return out;
}

Json tell_message(const search::Outcome& outcome) {
  return {{"type", "tell"},
          {"id", outcome.k},
          {"state", std::string(ending_name(outcome.ending))},
          {"value", outcome.value ? Json(*outcome.value) : Json(nullptr)},
          {"step", outcome.step}};
}

Json state_message(const SearcherHistory& history) {
  Json events = Json::array();
  for (const auto& event : history) {
    if (const auto* asked = std::get_if<Asked>(&event)) {
      Json ask = ask_message(asked->k, &asked->config);
      ask["given"] = asked->given;
      events.push_back(std::move(ask));
    } else {
      events.push_back(tell_message(std::get<search::Outcome>(event)));
    }
  }
  return {{"type", "state"}, {"events", std::move(events)}};
}

Result<Json> read_answer(const std::string& line, std::string_view type) {
  Result<Json> answer = parse_json(line, "H0722", "");
  if (!answer.has_value() || !answer->is_object()) {
    return garbage(line, "that is no JSON object");
  }
  const std::string given = text_in(*answer, "type");
  if (given == "error") {
    return told_error(*answer);
  }
  if (given != type) {
    return garbage(line, "its type is not `" + std::string(type) + "`");
  }
  return answer;
}

Result<std::optional<Config>> read_suggestion(const std::string& line,
                                              std::int64_t k,
                                              const search::Space& space) {
  HYDRO_TRY(const Json answer, read_answer(line, "suggestion"));
  if (answer.value("id", Json()) != Json(k)) {
    return garbage(line, "it was asked for id " + std::to_string(k));
  }
  const auto config = answer.find("config");
  if (config == answer.end()) {
    return garbage(line, "`config` is missing");
  }
  if (config->is_null()) {
    return std::optional<Config>();
  }
  if (!config->is_object()) {
    return garbage(line, "`config` is no object");
  }
  HYDRO_TRY(Config read, read_config(line, *config, space));
  return std::optional(std::move(read));
}

}  // namespace hydro::run
