#include "hydro/job/node.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro::job {
namespace {

constexpr std::size_t kWidestExcerpt = 90;

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

/// The part of `line` around byte `offset` that fits; `offset` is moved along.
std::string_view window(std::string_view line, std::size_t& offset) {
  if (line.size() <= kWidestExcerpt) {
    return line;
  }
  std::size_t start = offset > kWidestExcerpt / 2 ? offset - kWidestExcerpt / 2 : 0;
  std::size_t end = std::min(line.size(), start + kWidestExcerpt);
  while (start < end && is_continuation(line[start])) {
    ++start;
  }
  while (end > start && end < line.size() && is_continuation(line[end])) {
    --end;
  }
  offset -= std::min(offset, start);
  return line.substr(start, end - start);
}

std::string one_cell_each(std::string_view line) {
  std::string text(line);
  std::ranges::replace(text, '\t', ' ');
  return text;
}

std::string excerpt_of(const Source& source, const Place& place, std::size_t width) {
  auto offset = static_cast<std::size_t>(std::max(place.column, 1) - 1);
  const std::string_view line = window(line_of(source.text, place.line), offset);
  offset = std::min(offset, line.size());
  const std::size_t indent = characters(line.substr(0, offset));
  const std::size_t carets = characters(line.substr(offset, std::max<std::size_t>(width, 1)));
  std::string number = std::to_string(place.line);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
  return number + " | " + printable(one_cell_each(line)) + '\n' +
         std::string(number.size(), ' ') + " | " + std::string(indent, ' ') +
         std::string(std::max<std::size_t>(carets, 1), '^');
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &Key::text);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Node* Node::find(std::string_view key) {
  const auto found = std::ranges::find(keys, key, &Key::text);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

void Node::set(std::string_view key, Node value) {
  if (Node* old = find(key); old != nullptr) {
    *old = std::move(value);
    return;
  }
  keys.push_back({.text = std::string(key), .place = value.place});
  items.push_back(std::move(value));
}

void Node::add(std::string_view key, Node value) {
  if (find(key) == nullptr) {
    set(key, std::move(value));
  }
}

Node make_scalar(std::string text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text = std::move(text);
  return node;
}

Node make_map() {
  Node node;
  node.kind = Node::Kind::kMap;
  return node;
}

const Node* find_path(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = node->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

Error error_at(const std::vector<Source>& sources,
               const Place& place,
               std::size_t width,
               std::string_view id,
               std::string what) {
  Error error = make_error(id, std::move(what));
  if (place.line == 0) {
    return error;
  }
  const Source& source = sources.at(place.source);
  return std::move(error)
      .at(source.name + ':' + std::to_string(place.line) + ':' + std::to_string(place.column))
      .showing(excerpt_of(source, place, width));
}

Error error_at(const std::vector<Source>& sources,
               const Node& node,
               std::string_view id,
               std::string what) {
  const std::size_t quotes = node.quoted ? 2 : 0;
  const std::size_t width = node.width > 0 ? node.width : node.text.size() + quotes;
  return error_at(sources, node.place, width, id, std::move(what));
}

}  // namespace hydro::job
