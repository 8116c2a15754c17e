// Arguments of the user's callable: here no schema knows the type, so what YAML readers
// disagree about is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

bool is_guess(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"yes", "Yes", "YES", "no", "No", "NO",   "on",   "On",    "ON",    "off", "Off",
       "OFF", "y",   "n",   "Y",  "N",  "True", "TRUE", "False", "FALSE", "None"});
  const bool number_like =
      text.size() > 1 && text[0] == '0' &&
      text.find_first_not_of("0123456789abcdefABCDEFxXo_") == std::string_view::npos;
  return number_like || std::ranges::find(kWords, text) != kWords.end();
}

Result<OrderedJson> scalar_json(const Reader& reader, const Node& node) {
  if (node.quoted) {
    return OrderedJson(node.text);
  }
  if (const auto flag = as_bool(node)) {
    return OrderedJson(*flag);
  }
  const bool whole = node.text.find_first_of(".eE") == std::string::npos;
  if (const auto integer = as_integer(node); integer && whole) {
    return OrderedJson(*integer);
  }
  if (const auto number = as_number(node); number && std::isfinite(*number)) {
    return OrderedJson(*number);
  }
  if (is_guess(node.text)) {
    return reader.error(node, "H0105", "`" + node.text + "` could be text or something else")
        .fix(
            "quote it if it is text; booleans are `true` and `false`, nothing is `null`, "
            "numbers have "
            "no leading zeros");
  }
  return OrderedJson(node.text);
}

// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
Result<OrderedJson> json_of(const Reader& reader, const Node& node) {
  if (node.is_null()) {
    return OrderedJson(nullptr);
  }
  if (node.is_scalar()) {
    return scalar_json(reader, node);
  }
  OrderedJson out = node.is_map() ? OrderedJson::object() : OrderedJson::array();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    HYDRO_TRY(OrderedJson item, json_of(reader, node.items[i]));
    if (node.is_map()) {
      out[node.keys[i].text] = std::move(item);
    } else {
      out.push_back(std::move(item));
    }
  }
  return out;
}

}  // namespace

Result<std::string> to_json(const Reader& reader, const Node& node) {
  HYDRO_TRY(const OrderedJson json, json_of(reader, node));
  return json.dump();
}

}  // namespace hydro::job
