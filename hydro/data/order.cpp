#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/text.h"

namespace hydro::data {
namespace {

/// A permutation of [0, size) whose first `count` entries are drawn: Fisher-Yates.
std::vector<std::int64_t> drawn_order(std::uint64_t key,
                                      std::int64_t size,
                                      std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::uint64_t step = bounded(key, i, order.size() - i);
    std::swap(order[i], order[i + step]);
  }
  return order;
}

template <class Number>
std::vector<Number> rows_of(const std::vector<Number>& from,
                            std::int64_t size,
                            std::span<const std::int64_t> indices) {
  const std::size_t width = from.size() / static_cast<std::size_t>(size);
  std::vector<Number> rows;
  rows.reserve(width * indices.size());
  for (const std::int64_t index : indices) {
    const auto first = from.begin() + index * static_cast<std::ptrdiff_t>(width);
    rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

Dataset part_of(const Dataset& whole, std::span<const std::int64_t> indices) {
  Dataset part{.size = static_cast<std::int64_t>(indices.size()), .inputs = {}, .target = {}};
  part.inputs.reserve(whole.inputs.size());
  for (const Field& field : whole.inputs) {
    part.inputs.push_back({.name = field.name,
                           .type = field.type,
                           .shape = field.shape,
                           .bytes = rows_of(field.bytes, whole.size, indices),
                           .is_image = field.is_image,
                           .file = field.file});
  }
  part.target = {.classes = rows_of(whole.target.classes, whole.size, indices),
                 .values = rows_of(whole.target.values, whole.size, indices),
                 .shape = whole.target.shape,
                 .file = whole.target.file,
                 .class_names = whole.target.class_names};
  return part;
}

}  // namespace

std::vector<std::int64_t> epoch_order(std::uint64_t seed,
                                      std::int64_t epoch,
                                      std::int64_t size) {
  return drawn_order(stream_key(seed, "epoch " + std::to_string(epoch), "order"), size, size);
}

std::pair<Dataset, Dataset> split_off(const Dataset& whole, double share, std::uint64_t seed) {
  HYDRO_CHECK(share > 0);
  HYDRO_CHECK(share < 1);
  HYDRO_CHECK(whole.size > 1);
  const auto wanted = std::llround(share * static_cast<double>(whole.size));
  const auto count = std::clamp<std::int64_t>(wanted, 1, whole.size - 1);
  if (whole.is_text()) {
    const std::int64_t kept = whole.size - count;
    return {text_part(whole, 0, kept), text_part(whole, kept, count)};
  }
  std::vector<std::int64_t> order =
      drawn_order(stream_key(seed, "data", "split"), whole.size, count);
  std::sort(order.begin(), order.begin() + count);
  std::sort(order.begin() + count, order.end());
  const std::span<const std::int64_t> all(order);
  const auto drawn = all.first(static_cast<std::size_t>(count));
  return {part_of(whole, all.subspan(drawn.size())), part_of(whole, drawn)};
}

}  // namespace hydro::data
