// Dimensions that are parts end to end: concatenations, and what slices and splits cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

namespace {

/// "w[0]", 4, 8, 12 -> "w[0][4:8]"
std::string part_name(const std::string& whole,
                      std::int64_t begin,
                      std::int64_t end,
                      std::int64_t size) {
  return whole.empty() ? ""
                       : whole + "[" + (begin == 0 ? "" : std::to_string(begin)) + ":" +
                             (end == size ? "" : std::to_string(end)) + "]";
}

}  // namespace

/// Parts without a name are parts of what `whole` names.
void Atoms::name_parts(AtomId sum, const Atom& whole) {
  if (at(sum).parts.empty()) {
    return;
  }
  std::int64_t begin = 0;
  for (const Dimension& part : flat_parts({sum})) {
    const std::int64_t end = begin + size(part);
    if (part.size() == 1 && at(part.front()).name.empty()) {
      at(part.front()).name = part_name(whole.name, begin, end, whole.size);
      at(part.front()).order = whole.order;
    }
    begin = end;
  }
}

Dimension Atoms::add_sum(std::vector<Dimension> parts) {
  if (parts.size() == 1) {
    return parts.front();
  }
  Atom sum;
  for (const Dimension& part : parts) {
    sum.size += size(part);
    for (const AtomId leaf : leaves(part)) {
      at(leaf).unused_part = false;
    }
  }
  sum.parts = std::move(parts);
  return {add(std::move(sum))};
}

std::vector<Dimension> Atoms::flat_parts(const Dimension& dimension) const {
  const Dimension found = factors(dimension);
  if (found.empty() || at(found.front()).parts.empty()) {
    return {found};
  }
  std::vector<Dimension> flat;
  for (const Dimension& part : at(found.front()).parts) {
    for (Dimension& inside : flat_parts(part)) {
      inside.insert(inside.end(), found.begin() + 1, found.end());
      flat.push_back(std::move(inside));
    }
  }
  return flat;
}

void Atoms::cut_leaf(AtomId leaf, std::int64_t offset) {
  const Atom whole = at(leaf);
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    Atom made = whole;
    made.size = end - begin;
    made.unused_part = true;
    made.name = part_name(whole.name, begin, end, whole.size);
    return made.size == 1 ? Dimension{} : Dimension{add(std::move(made))};
  };
  Dimension first = piece(0, offset);
  Dimension second = piece(offset, whole.size);
  at(leaf).parts = {std::move(first), std::move(second)};
}

bool Atoms::cut_factor(AtomId factor, std::int64_t offset) {
  factor = find(factor);
  if (offset <= 0 || offset >= at(factor).size) {
    return true;
  }
  if (at(factor).outer != AtomId{-1}) {
    return cut({factor}, offset);
  }
  if (at(factor).parts.empty()) {
    cut_leaf(factor, offset);
    return true;
  }
  const std::vector<Dimension> parts = at(factor).parts;
  std::int64_t begin = 0;
  for (const Dimension& part : parts) {
    const std::int64_t end = begin + size(part);
    if (offset < end) {
      return cut(part, offset - begin);
    }
    begin = end;
  }
  return true;
}

bool Atoms::cut(const Dimension& dimension, std::int64_t offset) {
  if (offset <= 0 || offset >= size(dimension)) {
    return true;
  }
  const Dimension found = factors(dimension);
  const std::int64_t inner = size(Dimension(found.begin() + 1, found.end()));
  return offset % inner == 0 && cut_factor(found.front(), offset / inner);
}

std::optional<Dimension> Atoms::part(const Dimension& whole,
                                     std::int64_t begin,
                                     std::int64_t end) {
  if (!cut(whole, begin) || !cut(whole, end)) {
    return std::nullopt;
  }
  std::vector<Dimension> taken;
  std::int64_t at_entry = 0;
  for (Dimension& piece : flat_parts(whole)) {
    const std::int64_t next = at_entry + size(piece);
    if (at_entry >= begin && next <= end) {
      taken.push_back(std::move(piece));
    }
    at_entry = next;
  }
  if (taken.empty()) {
    return std::nullopt;
  }
  Dimension result = add_sum(std::move(taken));
  for (const AtomId leaf : leaves(result)) {
    at(leaf).unused_part = false;
  }
  return size(result) == end - begin ? std::optional(std::move(result)) : std::nullopt;
}

void Atoms::pin_unused_parts(std::string_view reason) {
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const Dimension sum = {static_cast<AtomId>(i)};
    if (at(sum.front()).parts.empty() || at(sum.front()).parent != AtomId{-1}) {
      continue;
    }
    const Dimension inside = leaves(sum);
    const bool one_stays = std::ranges::any_of(
        inside, [&](AtomId leaf) { return !at(leaf).pinned_because.empty(); });
    for (const AtomId leaf : inside) {
      if (one_stays && at(leaf).unused_part) {
        pin({leaf}, reason);
      }
    }
  }
}

}  // namespace hydro::shrink
