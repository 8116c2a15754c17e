// Writing YAML: the part of job/yaml.h that needs no yaml-cpp.
#include <cstddef>
#include <string>
#include <string_view>

#include "hydro/job/node.h"
#include "hydro/job/yaml.h"

namespace hydro::job {
namespace {

constexpr int kBlockLevels = 2;

/// Whether `text` reads back as this very plain scalar, also in flow style.
bool is_safe_plain(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+%- ";
  constexpr std::string_view kSafeFirst =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  if (text.empty() || text.find_first_not_of(kSafe) != std::string_view::npos ||
      kSafeFirst.find(text.front()) == std::string_view::npos || text.ends_with(' ')) {
    return false;
  }
  const bool starts_like_a_list = text.front() == '-' && (text.size() == 1 || text[1] == ' ');
  return !starts_like_a_list && !text.starts_with("---") && !text.starts_with("...") &&
         text != "null" && text != "Null" && text != "NULL";
}

/// YAML's double-quoted form.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A plain scalar with odd characters was text all along: only numbers, booleans and words need
/// to stay plain.
std::string scalar(const Node& node) {
  return !node.quoted && is_safe_plain(node.text) ? node.text : quoted(node.text);
}

std::string key_text(const Key& key) {
  return is_safe_plain(key.text) ? key.text : quoted(key.text);
}

/// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
void append_flow(const Node& node, std::string& out) {
  if (node.is_null()) {
    out += "null";
    return;
  }
  if (node.is_scalar()) {
    out += scalar(node);
    return;
  }
  out += node.is_map() ? '{' : '[';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out += i == 0 ? "" : ", ";
    if (node.is_map()) {
      out += key_text(node.keys[i]) + ": ";
    }
    append_flow(node.items[i], out);
  }
  out += node.is_map() ? '}' : ']';
}

/// NOLINTNEXTLINE(misc-no-recursion): kBlockLevels deep
void append_block(const Node& map, int level, std::string& out) {
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const Node& value = map.items[i];
    out += std::string(static_cast<std::size_t>(2 * level), ' ') + key_text(map.keys[i]) + ':';
    if (value.is_map() && !value.items.empty() && level + 1 < kBlockLevels) {
      out += '\n';
      append_block(value, level + 1, out);
    } else {
      out += ' ';
      append_flow(value, out);
      out += '\n';
    }
  }
}

}  // namespace

std::string to_flow(const Node& node) {
  std::string out;
  append_flow(node, out);
  return out;
}

std::string to_yaml(const Node& node) {
  if (!node.is_map() || node.items.empty()) {
    return to_flow(node) + '\n';
  }
  std::string out;
  append_block(node, 0, out);
  return out;
}

}  // namespace hydro::job
