// Access to a node's arguments by name and kind.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

template <class Kind>
const Kind& expect(const Node& node, std::string_view name, std::string_view kind) {
  const Argument& argument = node.argument(name);
  const Kind* held = std::get_if<Kind>(&argument);
  HYDRO_CHECK(
      held != nullptr,
      node.describe() + ": argument " + std::string(name) + " is no " + std::string(kind));
  return *held;
}

}  // namespace

const Argument* Node::find_argument(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &NamedArgument::name);
  return found == arguments.end() ? nullptr : &found->value;
}

Argument* Node::find_argument(std::string_view name) {
  return const_cast<Argument*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast): this is not
                                 // const
      std::as_const(*this).find_argument(name));
}

const Argument& Node::argument(std::string_view name) const {
  const Argument* found = find_argument(name);
  HYDRO_CHECK(found != nullptr, describe() + " has no argument " + std::string(name));
  return *found;
}

Argument& Node::argument(std::string_view name) {
  Argument* found = find_argument(name);
  HYDRO_CHECK(found != nullptr, describe() + " has no argument " + std::string(name));
  return *found;
}

ValueId Node::value(std::string_view name) const {
  return expect<ValueId>(*this, name, "value");
}

std::optional<ValueId> Node::optional_value(std::string_view name) const {
  if (std::holds_alternative<None>(argument(name))) {
    return std::nullopt;
  }
  return value(name);
}

std::int64_t Node::integer(std::string_view name) const {
  return expect<std::int64_t>(*this, name, "integer");
}

double Node::number(std::string_view name) const {
  if (const auto* integer = std::get_if<std::int64_t>(&argument(name))) {
    return static_cast<double>(*integer);
  }
  return expect<double>(*this, name, "number");
}

bool Node::boolean(std::string_view name) const {
  return expect<bool>(*this, name, "boolean");
}

const std::string& Node::text(std::string_view name) const {
  return expect<std::string>(*this, name, "text");
}

const std::vector<IntItem>& Node::items(std::string_view name) const {
  return expect<std::vector<IntItem>>(*this, name, "list of integers");
}

std::vector<std::int64_t> Node::integers(std::string_view name) const {
  std::vector<std::int64_t> result;
  for (const IntItem& item : items(name)) {
    const auto* number = std::get_if<std::int64_t>(&item);
    HYDRO_CHECK(number != nullptr, describe() + ": " + std::string(name) + " is not constant");
    result.push_back(*number);
  }
  return result;
}

std::string Node::describe() const {
  std::string result = op;
  if (!source.module.empty()) {
    result += " `" + source.module + "`";
  }
  if (!source.place.empty()) {
    result += " (" + source.place + ")";
  }
  return result;
}

}  // namespace hydro::ir
