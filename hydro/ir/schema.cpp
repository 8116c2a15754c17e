#include "hydro/ir/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

struct KindRow {
  std::string_view type;  // without alias, '?' and list
  SchemaKind single;
  SchemaKind list;
};

constexpr std::array kKinds = {
    KindRow{.type = "Tensor", .single = SchemaKind::kTensor, .list = SchemaKind::kTensors},
    KindRow{.type = "int", .single = SchemaKind::kInt, .list = SchemaKind::kInts},
    KindRow{.type = "SymInt", .single = SchemaKind::kInt, .list = SchemaKind::kInts},
    KindRow{.type = "float", .single = SchemaKind::kFloat, .list = SchemaKind::kFloats},
    KindRow{.type = "bool", .single = SchemaKind::kBool, .list = SchemaKind::kBools},
    KindRow{.type = "Scalar", .single = SchemaKind::kScalar, .list = SchemaKind::kOther},
    KindRow{.type = "ScalarType", .single = SchemaKind::kDType, .list = SchemaKind::kOther},
    KindRow{.type = "str", .single = SchemaKind::kText, .list = SchemaKind::kOther},
    KindRow{.type = "Device", .single = SchemaKind::kDropped, .list = SchemaKind::kDropped},
    KindRow{.type = "Layout", .single = SchemaKind::kDropped, .list = SchemaKind::kDropped},
    KindRow{
        .type = "MemoryFormat", .single = SchemaKind::kDropped, .list = SchemaKind::kDropped},
    KindRow{.type = "Generator", .single = SchemaKind::kDropped, .list = SchemaKind::kDropped},
};

// Flags that speak of devices and have no meaning in a graph that runs anywhere.
constexpr std::array<std::string_view, 3> kDroppedNames = {
    "pin_memory", "cudnn_enabled", "non_blocking"};

Error unreadable(std::string_view text, const std::string& what) {
  return make_error("H0250", "schema `" + printable(text.substr(0, 200)) + "`: " + what);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  const bool there = text.ends_with(suffix);
  if (there) {
    text.remove_suffix(suffix.size());
  }
  return there;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// "Tensor(a!)?", "SymInt[2]", "Tensor?[]" into kind and list size.
void read_type(std::string_view type, SchemaArgument& argument) {
  take_suffix(type, "?");
  const std::size_t bracket = type.find('[');
  const bool is_list = bracket != std::string_view::npos && type.ends_with(']');
  if (is_list) {
    argument.list_size =
        number_of<std::int64_t>(type.substr(bracket + 1, type.size() - bracket - 2))
            .value_or(0);
    type = type.substr(0, bracket);
  }
  const bool optional_items = take_suffix(type, "?") && is_list;
  const std::size_t alias = type.find('(');
  if (alias != std::string_view::npos) {
    argument.mutated = type.substr(alias).find('!') != std::string_view::npos;
    type = type.substr(0, alias);
  }
  for (const KindRow& row : kKinds) {
    if (row.type == type) {
      argument.kind = is_list ? row.list : row.single;
    }
  }
  if (argument.kind == SchemaKind::kTensors && optional_items) {
    argument.kind = SchemaKind::kOptionalTensors;
  }
}

// The reductions of losses are written by name in some versions.
std::optional<std::int64_t> named_integer(std::string_view text) {
  constexpr std::array<std::string_view, 3> kReductions = {"None", "Mean", "Sum"};
  for (std::size_t i = 1; i < kReductions.size(); ++i) {
    if (text == kReductions.at(i)) {
      return static_cast<std::int64_t>(i);
    }
  }
  return std::nullopt;
}

std::optional<Argument> read_scalar(std::string_view text) {
  if (text == "None") {
    return None{};
  }
  if (text == "True" || text == "False") {
    return text == "True";
  }
  if (const auto integer = number_of<std::int64_t>(text)) {
    return *integer;
  }
  if (const auto number = number_of<double>(text)) {
    return *number;
  }
  if (const auto integer = named_integer(text)) {
    return *integer;
  }
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return std::string(text.substr(1, text.size() - 2));
  }
  return std::nullopt;
}

std::optional<Argument> read_list(std::string_view text) {
  std::vector<IntItem> integers;
  std::vector<double> floats;
  std::vector<bool> booleans;
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<Argument> item = read_scalar(trimmed(text.substr(0, comma)));
    text = text.substr(std::min(comma + 1, text.size()));
    if (item && std::holds_alternative<std::int64_t>(*item)) {
      integers.emplace_back(std::get<std::int64_t>(*item));
    } else if (item && std::holds_alternative<double>(*item)) {
      floats.push_back(std::get<double>(*item));
    } else if (item && std::holds_alternative<bool>(*item)) {
      booleans.push_back(std::get<bool>(*item));
    } else {
      return std::nullopt;
    }
  }
  if (!booleans.empty()) {
    return integers.empty() && floats.empty() ? std::optional<Argument>(booleans)
                                              : std::nullopt;
  }
  if (!floats.empty()) {
    return integers.empty() ? std::optional<Argument>(floats) : std::nullopt;
  }
  return integers;
}

std::optional<Argument> read_default(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    return read_list(text.substr(1, text.size() - 2));
  }
  return read_scalar(text);
}

// Where the part that starts at `start` ends: at a comma or the closing parenthesis outside
// brackets and quotes.
std::size_t part_end(std::string_view text, std::size_t start) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = start; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote != '\0') {
      quote = letter == quote ? '\0' : quote;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (depth == 0 && (letter == ',' || letter == ')')) {
      return i;
    } else if (letter == '(' || letter == '[') {
      ++depth;
    } else if (letter == ')' || letter == ']') {
      --depth;
    }
  }
  return std::string_view::npos;
}

Result<SchemaArgument> read_argument(std::string_view whole, std::string_view part) {
  SchemaArgument argument;
  const std::size_t equals = part.find('=');
  const std::string_view declaration = trimmed(part.substr(0, equals));
  const std::size_t space = declaration.rfind(' ');
  if (space == std::string_view::npos) {
    return unreadable(whole, "`" + std::string(part) + "` is no argument");
  }
  argument.name = declaration.substr(space + 1);
  read_type(trimmed(declaration.substr(0, space)), argument);
  for (const std::string_view dropped : kDroppedNames) {
    if (argument.name == dropped) {
      argument.kind = SchemaKind::kDropped;
    }
  }
  if (equals == std::string_view::npos || argument.kind == SchemaKind::kDropped) {
    return argument;
  }
  std::optional<Argument> fallback = read_default(trimmed(part.substr(equals + 1)));
  if (!fallback) {
    return unreadable(whole, "the default of `" + argument.name + "` is of an unknown kind");
  }
  argument.fallback = normalized(*std::move(fallback), argument);
  return argument;
}

bool is_empty_list(const Argument& argument) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.begin(); }) {
          return !std::is_same_v<std::decay_t<decltype(held)>, std::string> && held.empty();
        } else {
          return false;
        }
      },
      argument);
}

Argument empty_list(SchemaKind kind, Argument otherwise) {
  switch (kind) {
    case SchemaKind::kTensors:
      return std::vector<ValueId>();
    case SchemaKind::kOptionalTensors:
      return std::vector<std::optional<ValueId>>();
    case SchemaKind::kInts:
      return std::vector<IntItem>();
    case SchemaKind::kFloats:
      return std::vector<double>();
    case SchemaKind::kBools:
      return std::vector<bool>();
    default:
      return otherwise;
  }
}

Argument with_floats(const std::vector<IntItem>& items) {
  std::vector<double> floats;
  for (const IntItem& item : items) {
    const auto* constant = std::get_if<std::int64_t>(&item);
    if (constant == nullptr) {
      return items;
    }
    floats.push_back(static_cast<double>(*constant));
  }
  return floats;
}

}  // namespace

Argument normalized(Argument argument, const SchemaArgument& schema) {
  if (is_empty_list(argument)) {
    return empty_list(schema.kind, std::move(argument));
  }
  const auto* integer = std::get_if<std::int64_t>(&argument);
  const auto* items = std::get_if<std::vector<IntItem>>(&argument);
  const auto* values = std::get_if<std::vector<ValueId>>(&argument);
  if (schema.kind == SchemaKind::kInts && integer != nullptr) {
    const auto count =
        static_cast<std::size_t>(std::clamp<std::int64_t>(schema.list_size, 1, 8));
    return std::vector<IntItem>(count, IntItem(*integer));
  }
  if (schema.kind == SchemaKind::kFloat && integer != nullptr) {
    return static_cast<double>(*integer);
  }
  if (schema.kind == SchemaKind::kFloats && items != nullptr) {
    return with_floats(*items);
  }
  if (schema.kind == SchemaKind::kOptionalTensors && values != nullptr) {
    return std::vector<std::optional<ValueId>>(values->begin(), values->end());
  }
  return argument;
}

Result<OpSchema> parse_schema(std::string_view text) {
  OpSchema schema;
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    return unreadable(text, "no arguments");
  }
  std::size_t start = open + 1;
  for (;;) {
    const std::size_t end = part_end(text, start);
    if (end == std::string_view::npos) {
      return unreadable(text, "the arguments do not end");
    }
    const std::string_view part = trimmed(text.substr(start, end - start));
    if (!part.empty() && part != "*") {
      HYDRO_TRY(SchemaArgument argument, read_argument(text, part));
      schema.arguments.push_back(std::move(argument));
    }
    start = end + 1;
    if (text[end] == ')') {
      break;
    }
  }
  const std::string_view returns = text.substr(start);
  const bool mutates_any = text.find('!') != std::string_view::npos;
  schema.is_view = !mutates_any && returns.find("Tensor(") != std::string_view::npos;
  return schema;
}

}  // namespace hydro::ir
