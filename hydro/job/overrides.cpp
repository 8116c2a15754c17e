#include "hydro/job/overrides.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/yaml.h"

namespace hydro::job {
namespace {

/// The value was parsed alone; in the assignment it stands behind `KEY=`.
// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
void shift(Node& node, int columns) {
  node.place.column += node.place.line == 1 ? columns : 0;
  for (Key& key : node.keys) {
    key.place.column += key.place.line == 1 ? columns : 0;
  }
  for (Node& item : node.items) {
    shift(item, columns);
  }
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    path.remove_prefix(dot + 1);
  }
}

/// The value of `key` of `map`, made as a mapping when it is missing or nothing.
Node* step_into(Node& map, const Key& key) {
  if (map.is_null()) {
    map.kind = Node::Kind::kMap;
  }
  if (!map.is_map()) {
    return nullptr;
  }
  if (map.find(key.text) == nullptr) {
    map.keys.push_back(key);
    map.items.push_back(make_map());
    map.items.back().place = key.place;
  }
  return map.find(key.text);
}

}  // namespace

Result<void> apply_override(Document& document, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  if (equals == std::string::npos || equals + 1 == assignment.size() || path.empty()) {
    return make_error("H0112", "`--set " + printable(assignment) + "` has no value");
  }
  const std::size_t source = document.sources.size();
  document.sources.push_back({.name = "--set", .text = assignment.substr(equals + 1)});
  HYDRO_TRY(Node value, parse_yaml(document.sources, source));
  document.sources.back().text = assignment;
  shift(value, static_cast<int>(equals) + 1);
  Node* node = &document.root;
  int column = 1;
  for (const std::string& part : split_path(path)) {
    const Key key{.text = part, .place = {.source = source, .line = 1, .column = column}};
    node = step_into(*node, key);
    if (node == nullptr || part.empty()) {
      return error_at(document.sources,
                      key.place,
                      part.size(),
                      "H0112",
                      "`" + printable(path) + "` leads through something that is no mapping");
    }
    column += static_cast<int>(part.size()) + 1;
  }
  *node = std::move(value);
  return {};
}

}  // namespace hydro::job
