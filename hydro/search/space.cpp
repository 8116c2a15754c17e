#include "hydro/search/space.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "hydro/base/text.h"

namespace hydro::search {
namespace {

struct ToText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }

  std::string operator()(std::int64_t value) const { return std::to_string(value); }

  std::string operator()(double value) const { return shortest(value); }

  std::string operator()(const std::string& value) const { return value; }
};

}  // namespace

std::string to_text(const Value& value) {
  return std::visit(ToText{}, value);
}

const Parameter* Space::find(std::string_view path_or_name) const {
  const auto found = std::ranges::find_if(parameters, [&](const Parameter& parameter) {
    return parameter.path == path_or_name || parameter.name == path_or_name;
  });
  return found == parameters.end() ? nullptr : &*found;
}

bool is_active(const Parameter& parameter, const Config& config) {
  if (!parameter.condition) {
    return true;
  }
  const auto found = config.find(parameter.condition->parameter);
  return found != config.end() && found->second == Value(parameter.condition->branch);
}

}  // namespace hydro::search
