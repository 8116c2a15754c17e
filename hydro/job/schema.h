// hydro/job/schema.h — a section of the job file as a table: one row a key, with its type,
// default, help and the function that reads it. Adding a key is adding a row. The defaults are
// YAML text, read like the user's own.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/yaml.h"

namespace hydro::job {

template <class Section>
struct Row {
  std::string_view key;
  std::string_view type;      // what a value must be, in the words of an error
  std::string_view fallback;  // YAML text; empty: may be left out and nothing is read
  std::string_view help;
  Result<void> (*read)(const Reader&, const Node&, const Row&, Section&);

  constexpr Row(std::string_view row_key,
                std::string_view row_type,
                std::string_view row_fallback,
                std::string_view row_help,
                Result<void> (*row_read)(const Reader&, const Node&, const Row&, Section&))
      : key(row_key), type(row_type), fallback(row_fallback), help(row_help), read(row_read) {}
};

/// A row as docs/job-file.md shows it.
struct KnownKey {
  std::string section;  // "train", "optimizer sgd"
  std::string key;
  std::string type;
  std::string fallback;   // empty: none
  bool is_later = false;  // known, not in this version
};

/// The key is known, but its part of the program is built later: a clear error, no silence.
[[nodiscard]] Error not_in_this_version(const Reader& reader,
                                        const Node& node,
                                        std::string_view what);

/// The map's keys against the table's.
///
/// Errors: H0103 with a suggestion; H0105 when `map` is no mapping
[[nodiscard]] Result<void> check_keys(const Reader& reader,
                                      const Node& map,
                                      std::string_view section,
                                      std::span<const std::string> known);

/// Errors: H0106 naming the first of `keys` that `map` lacks
[[nodiscard]] Result<void> require_keys(const Reader& reader,
                                        const Node& map,
                                        std::span<const std::string_view> keys);

template <class Section>
std::vector<std::string> keys_of(std::span<const Row<Section>> rows) {
  std::vector<std::string> keys;
  for (const Row<Section>& row : rows) {
    keys.emplace_back(row.key);
  }
  return keys;
}

/// A default's tree; its places are nowhere.
[[nodiscard]] Node parse_default(std::string_view text);

/// Reads every row in the table's order, so that a row may look at what an earlier one read.
template <class Section>
Result<void> read_rows(const Reader& reader,
                       const Node& map,
                       std::string_view section,
                       std::span<const Row<Section>> rows,
                       Section& out) {
  const std::vector<std::string> known = keys_of(rows);
  HYDRO_TRY_VOID(check_keys(reader, map, section, known));
  for (const Row<Section>& row : rows) {
    const Node* given = map.find(row.key);
    if (given != nullptr) {
      HYDRO_TRY_VOID(row.read(reader, *given, row, out));
    } else if (!row.fallback.empty()) {
      HYDRO_TRY_VOID(row.read(reader, parse_default(row.fallback), row, out));
    }
  }
  return {};
}

/// Adds the rows that the user left out: the resolved job says everything.
template <class Section>
void fill_defaults(Node& map, std::span<const Row<Section>> rows) {
  for (const Row<Section>& row : rows) {
    if (!row.fallback.empty()) {
      map.add(row.key, parse_default(row.fallback));
    }
  }
}

// ---- Readers for the `read` column ----

template <auto Member, class Section>
Result<void> read_text(const Reader& reader,
                       const Node& node,
                       const Row<Section>& row,
                       Section& out) {
  if (!node.is_scalar() || node.text.empty()) {
    return reader.wrong(node, row.key, row.type);
  }
  out.*Member = node.text;
  return {};
}

template <auto Member, class Section>
Result<void> read_path(const Reader& reader,
                       const Node& node,
                       const Row<Section>& row,
                       Section& out) {
  if (!node.is_scalar() || node.text.empty()) {
    return reader.wrong(node, row.key, row.type);
  }
  out.*Member = reader.absolute(node.text);
  return {};
}

template <auto Member, class Section>
Result<void> read_bool(const Reader& reader,
                       const Node& node,
                       const Row<Section>& row,
                       Section& out) {
  const auto value = as_bool(node);
  if (!value) {
    return reader.wrong(node, row.key, row.type);
  }
  const bool given = *value;
  out.*Member = given;
  return {};
}

/// Bytes.
template <auto Member, class Section>
Result<void> read_size(const Reader& reader,
                       const Node& node,
                       const Row<Section>& row,
                       Section& out) {
  out.*Member = as_size(node);
  return out.*Member ? Result<void>() : reader.wrong(node, row.key, row.type);
}

/// An integer of at least `Least`.
template <auto Member, std::int64_t Least, class Section>
Result<void> read_integer(const Reader& reader,
                          const Node& node,
                          const Row<Section>& row,
                          Section& out) {
  const auto value = as_integer(node);
  if (!value || *value < Least) {
    return reader.wrong(node, row.key, row.type);
  }
  using Field = std::remove_cvref_t<decltype(out.*Member)>;
  if constexpr (std::is_integral_v<Field>) {
    out.*Member = static_cast<Field>(*value);
  } else {
    out.*Member = value;
  }
  return {};
}

/// An integer from 1 to a billion: a product of two of them is no overflow.
template <auto Member, class Section>
Result<void> read_count(const Reader& reader,
                        const Node& node,
                        const Row<Section>& row,
                        Section& out) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto value = as_integer(node);
  return value && *value > kMost ? reader.wrong(node, row.key, row.type)
                                 : read_integer<Member, 1, Section>(reader, node, row, out);
}

struct Limits {
  double low = 0;
  double high = HUGE_VAL;
  bool low_open = false;  // low itself is not allowed
  bool high_open = false;

  /// False for NaN and infinities.
  [[nodiscard]] bool admit(double value) const {
    const bool above = low_open ? value > low : value >= low;
    const bool below = high_open ? value < high : value <= high;
    return std::isfinite(value) && above && below;
  }
};

/// A finite number within `Bounds`.
template <auto Member, Limits Bounds, class Section>
Result<void> read_number(const Reader& reader,
                         const Node& node,
                         const Row<Section>& row,
                         Section& out) {
  const auto value = as_number(node);
  if (!value || !Bounds.admit(*value)) {
    return reader.wrong(node, row.key, row.type);
  }
  if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(out.*Member)>>) {
    out.*Member = *value;
  } else {
    out.*Member = value;
  }
  return {};
}

/// One of the words of `Words`, a table of (word, value) pairs.
template <auto Member, const auto& Words, class Section>
Result<void> read_word(const Reader& reader,
                       const Node& node,
                       const Row<Section>& row,
                       Section& out) {
  std::vector<std::string> known;
  for (const auto& [word, value] : Words) {
    if (node.is_scalar() && node.text == word) {
      out.*Member = value;
      return {};
    }
    known.emplace_back(word);
  }
  Error fault = reader.wrong(node, row.key, row.type);
  const std::string meant = node.is_scalar() ? nearest(node.text, known) : std::string();
  return meant.empty() ? fault : std::move(fault).fix("did you mean `" + meant + "`?");
}

/// A key whose part of the program comes later, whatever its value.
template <class Section>
Result<void> read_later(const Reader& reader,
                        const Node& node,
                        const Row<Section>& row,
                        Section& /*out*/) {
  return not_in_this_version(reader, node, row.key);
}

/// For a key that was read to choose this table, as `format` was.
template <class Section>
Result<void> ignore(const Reader& /*reader*/,
                    const Node& /*node*/,
                    const Row<Section>& /*row*/,
                    Section& /*out*/) {
  return {};
}

/// Appends the table's rows.
template <class Section>
void list_rows(std::string_view section,
               std::span<const Row<Section>> rows,
               std::vector<KnownKey>& out) {
  for (const Row<Section>& row : rows) {
    out.push_back({.section = std::string(section),
                   .key = std::string(row.key),
                   .type = std::string(row.type),
                   .fallback = std::string(row.fallback),
                   .is_later = row.read == &read_later<Section>});
  }
}

}  // namespace hydro::job
