#include "hydro/base/json.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "hydro/base/result.h"

namespace hydro {
namespace {

constexpr int kMaxDepth = 200;

/// Nesting depth of brackets outside strings, so that the recursive parser's stack stays
/// bounded.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view id, const std::string& where) {
  if (too_deep(text)) {
    return make_error(id, "JSON nested deeper than " + std::to_string(kMaxDepth) + " levels")
        .at(where);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& problem) {
    return make_error(id, "not valid JSON at byte " + std::to_string(problem.byte)).at(where);
  } catch (const Json::exception&) {
    return make_error(id, "JSON with a number that no double can hold").at(where);
  }
}

}  // namespace hydro
