// hydro/job/yaml.h — the one door to yaml-cpp: strict reading into Node, and writing.
// Stricter than YAML: one document, keys that are plain text and not repeated, no tags, no
// merge keys, UTF-8 without a byte order mark, at most 1 MB, 32 levels and 20,000 nodes
// (aliases counted as often as they are used).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/node.h"

namespace hydro::job {

inline constexpr std::size_t kLargestJob = 1'000'000;

/// The tree of `sources[index].text`; its places point to that source.
///
/// Errors: H0101 size, H0102 syntax, H0104 repeated key, H0107 bytes that are no plain UTF-8
/// text, H0108 depth or
///         number of nodes
[[nodiscard]] Result<Node> parse_yaml(const std::vector<Source>& sources, std::size_t index);

/// Block style for the outer two levels, flow style below. Reads back as the same tree, places
/// aside.
[[nodiscard]] std::string to_yaml(const Node& node);

/// One line, flow style.
[[nodiscard]] std::string to_flow(const Node& node);

}  // namespace hydro::job
