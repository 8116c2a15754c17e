// hydro/job/node.h — a job file as a tree that knows where each piece stands, so that every
// error can show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::job {

/// A piece of one source: the job file, or one `--set`. Line and column count from 1; line 0 is
/// nowhere (a default), column counts bytes.
struct Place {
  std::size_t source = 0;
  int line = 0;
  int column = 0;
};

struct Key {
  std::string text;
  Place place;
};

/// `items` are a sequence's elements or a map's values; `keys[i]` belongs to `items[i]`.
struct Node {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;
  std::string text;  // of a scalar
  Place place;
  std::size_t width = 0;  // bytes of the scalar as written, when `text` may be another; else 0
  std::vector<Key> keys;
  std::vector<Node> items;

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }

  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }

  [[nodiscard]] bool is_sequence() const { return kind == Kind::kSequence; }

  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }

  /// A scalar without quotes: only these are numbers, booleans and the like.
  [[nodiscard]] bool is_plain() const { return is_scalar() && !quoted; }

  /// The value of `key` of a map; null when it has none.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// Replaces or appends.
  void set(std::string_view key, Node value);
  /// Appends what is not there.
  void add(std::string_view key, Node value);
};

[[nodiscard]] Node make_scalar(std::string text);
[[nodiscard]] Node make_map();

/// The value at a dotted path such as "train.optimizer.lr"; null when there is none.
[[nodiscard]] const Node* find_path(const Node& root, std::string_view path);

struct Source {
  std::string name;  // "job.yaml", "--set"
  std::string text;
};

/// A tree and the texts that its places point into.
struct Document {
  Node root;
  std::vector<Source> sources;
};

/// An error of row `id` at `place`, with the source line and `width` carets under it.
[[nodiscard]] Error error_at(const std::vector<Source>& sources,
                             const Place& place,
                             std::size_t width,
                             std::string_view id,
                             std::string what);
/// As above; the carets cover the node's text, or its first character.
[[nodiscard]] Error error_at(const std::vector<Source>& sources,
                             const Node& node,
                             std::string_view id,
                             std::string what);

}  // namespace hydro::job
