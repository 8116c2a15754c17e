#include "hydro/shrink/atoms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::shrink {

namespace {

constexpr AtomId kNoAtom{-1};

}  // namespace

AtomId Atoms::add(Atom atom) {
  atoms_.push_back(std::move(atom));
  return static_cast<AtomId>(atoms_.size() - 1);
}

Dimension Atoms::add_free(std::int64_t size) {
  if (size == 1) {
    return {};
  }
  return {add(Atom{.size = size})};
}

Dimension Atoms::add_pinned(std::int64_t size, std::string_view reason) {
  Dimension made = add_free(size);
  pin(made, reason);
  return made;
}

Dimension Atoms::add_state(std::int64_t size, std::string name) {
  Dimension made = add_free(size);
  if (!made.empty()) {
    Atom& atom = at(made.front());
    atom.name = std::move(name);
    atom.order = names_++;
  }
  return made;
}

void Atoms::mark_parameter(const Dimension& dimension) {
  for (const AtomId id : leaves(dimension)) {
    at(id).parameter = true;
  }
}

void Atoms::pin(const Dimension& dimension, std::string_view reason) {
  for (const AtomId id : leaves(dimension)) {
    if (at(id).pinned_because.empty()) {
      at(id).pinned_because = reason;
    }
  }
}

void Atoms::pin_above_all(const Dimension& dimension, std::string_view reason) {
  for (const AtomId id : leaves(dimension)) {
    at(id).pinned_because = reason;
  }
}

AtomId Atoms::find(AtomId id) const {
  while (at(id).parent != kNoAtom) {
    id = at(id).parent;
  }
  return id;
}

void Atoms::append_factors(AtomId id, Dimension& out) const {
  const AtomId root = find(id);
  const Atom& atom = at(root);
  if (atom.outer == kNoAtom) {
    out.push_back(root);
    return;
  }
  append_factors(atom.outer, out);
  append_factors(atom.inner, out);
}

void Atoms::append_leaves(AtomId id, Dimension& out) const {
  Dimension found;
  append_factors(id, found);
  for (const AtomId factor : found) {
    if (at(factor).parts.empty()) {
      out.push_back(factor);
    }
    for (const Dimension& part : at(factor).parts) {
      for (const AtomId inside : part) {
        append_leaves(inside, out);
      }
    }
  }
}

Dimension Atoms::factors(const Dimension& dimension) const {
  Dimension out;
  for (const AtomId id : dimension) {
    append_factors(id, out);
  }
  return out;
}

Dimension Atoms::leaves(const Dimension& dimension) const {
  Dimension out;
  for (const AtomId id : dimension) {
    append_leaves(id, out);
  }
  return out;
}

bool Atoms::is_leaf(AtomId id) const {
  return at(id).parent == kNoAtom && at(id).outer == kNoAtom && at(id).parts.empty();
}

Dimension Atoms::all_leaves() const {
  Dimension found;
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    if (is_leaf(static_cast<AtomId>(i))) {
      found.push_back(static_cast<AtomId>(i));
    }
  }
  return found;
}

std::int64_t Atoms::size(const Dimension& dimension) const {
  std::int64_t product = 1;
  for (const AtomId id : dimension) {
    product *= at(find(id)).size;
  }
  return product;
}

bool Atoms::is_width(AtomId leaf) const {
  return at(leaf).parameter && at(leaf).pinned_because.empty();
}

bool Atoms::has_width(const Dimension& dimension) const {
  return std::ranges::any_of(leaves(dimension), [&](AtomId leaf) { return is_width(leaf); });
}

bool Atoms::is_pinned(const Dimension& dimension) const {
  return std::ranges::none_of(leaves(dimension),
                              [&](AtomId leaf) { return at(leaf).pinned_because.empty(); });
}

void Atoms::split(AtomId id, std::int64_t outer_size) {
  const Atom whole = at(id);
  Atom outer{.size = outer_size,
             .parameter = whole.parameter,
             .pinned_because = whole.pinned_because,
             .name = whole.name.empty() ? "" : whole.name + ".outer",
             .order = whole.order};
  Atom inner = outer;
  inner.size = whole.size / outer_size;
  inner.name = whole.name.empty() ? "" : whole.name + ".inner";
  const AtomId outer_id = add(std::move(outer));
  const AtomId inner_id = add(std::move(inner));
  at(id).outer = outer_id;
  at(id).inner = inner_id;
}

/// Requires: at most one of them is a sum
void Atoms::join(AtomId left, AtomId right) {
  HYDRO_CHECK(at(left).size == at(right).size);
  const bool right_leads =
      at(left).parts.empty() && (!at(right).parts.empty() || at(right).order < at(left).order);
  const AtomId kept_id = right_leads ? right : left;
  const AtomId gone_id = right_leads ? left : right;
  at(gone_id).parent = kept_id;
  const Atom gone = at(gone_id);
  name_parts(kept_id, gone);
  for (const AtomId leaf : leaves({kept_id})) {
    Atom& kept = at(leaf);
    kept.parameter = kept.parameter || gone.parameter;
    kept.unused_part = kept.unused_part && gone.unused_part;
    if (kept.pinned_because.empty()) {
      kept.pinned_because = gone.pinned_because;
    }
    if (kept.name.empty()) {
      kept.name = gone.name;
      kept.order = gone.order;
    }
  }
}

/// Requires: both are leaves or sums of one size. False when a boundary of one lies inside a
/// factor of the other.
bool Atoms::join_sums(AtomId left, AtomId right) {
  for (const auto& [cut_id, other] : {std::pair(left, right), std::pair(right, left)}) {
    std::int64_t offset = 0;
    for (const Dimension& part : flat_parts({other})) {
      offset += size(part);
      if (!cut_factor(cut_id, offset)) {
        return false;
      }
    }
  }
  const std::vector<Dimension> left_parts = flat_parts({left});
  const std::vector<Dimension> right_parts = flat_parts({right});
  HYDRO_CHECK(left_parts.size() == right_parts.size(), "parts of two sums");
  for (std::size_t i = 0; i < left_parts.size(); ++i) {
    // Parts that do not line up are pinned; the others still agree.
    static_cast<void>(unify(left_parts[i], right_parts[i], "parts that do not factor alike"));
  }
  at(right).parent = left;
  return true;
}

/// Requires: both are factors. False when neither size divides the other.
bool Atoms::match_heads(AtomId left, AtomId right) {
  const std::int64_t left_size = at(left).size;
  const std::int64_t right_size = at(right).size;
  if (left_size == right_size) {
    if (!at(left).parts.empty() && !at(right).parts.empty()) {
      return join_sums(left, right);
    }
    join(left, right);
    return true;
  }
  const AtomId larger = left_size > right_size ? left : right;
  const std::int64_t smaller_size = std::min(left_size, right_size);
  if (smaller_size <= 1 || at(larger).size % smaller_size != 0 || !at(larger).parts.empty()) {
    return false;
  }
  split(larger, smaller_size);
  return true;
}

bool Atoms::unify(const Dimension& left,
                  const Dimension& right,
                  std::string_view reason_to_pin) {
  // Every round joins or splits one pair, after which both lists are read anew: a split is seen
  // by all holders.
  bool lined_up = true;
  Dimension a = factors(left);
  Dimension b = factors(right);
  while (true) {
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) {
      ++same;
    }
    a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same));
    b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(same));
    if (a.empty() && b.empty()) {
      return lined_up;
    }
    if (a.empty() || b.empty() || !match_heads(a.front(), b.front())) {
      lined_up = false;
      pin_least_run(a, b, reason_to_pin);
    }
    a = factors(a);
    b = factors(b);
  }
}

/// Pins, and takes away, as few factors of both as have one product; all where there is none.
void Atoms::pin_least_run(Dimension& left, Dimension& right, std::string_view reason) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::int64_t left_size = 1;
  std::int64_t right_size = 1;
  while ((i == 0 || left_size != right_size) && (i < left.size() || j < right.size())) {
    const bool takes_left = j == right.size() || (i < left.size() && left_size <= right_size);
    std::int64_t& grown = takes_left ? left_size : right_size;
    grown *= takes_left ? at(left[i++]).size : at(right[j++]).size;
  }
  const auto cut = [&](Dimension& dimension, std::size_t count) {
    const auto end = dimension.begin() + static_cast<std::ptrdiff_t>(count);
    pin(Dimension(dimension.begin(), end), reason);
    dimension.erase(dimension.begin(), end);
  };
  cut(left, i);
  cut(right, j);
}

bool Atoms::unify_flat(const Dimensions& left,
                       const Dimensions& right,
                       std::string_view reason_to_pin) {
  Dimension a;
  Dimension b;
  for (const Dimension& dimension : left) {
    a.insert(a.end(), dimension.begin(), dimension.end());
  }
  for (const Dimension& dimension : right) {
    b.insert(b.end(), dimension.begin(), dimension.end());
  }
  return unify(a, b, reason_to_pin);
}

bool Atoms::lines_up(const Dimension& left, const Dimension& right) const {
  const Dimension a = factors(left);
  const Dimension b = factors(right);
  const auto size_at = [this](const Dimension& dimension, std::size_t k) {
    return k < dimension.size() ? at(dimension[k]).size : 1;
  };
  const auto is_cut = [this](AtomId atom, std::int64_t size, std::int64_t part) {
    return part > 1 && size % part == 0 && at(atom).parts.empty();
  };
  std::size_t i = 0;
  std::size_t j = 0;
  std::int64_t x = size_at(a, i);
  std::int64_t y = size_at(b, j);
  while (i < a.size() && j < b.size()) {
    if (x == y) {
      x = size_at(a, ++i);
      y = size_at(b, ++j);
    } else if (x < y && is_cut(b[j], y, x)) {
      y /= x;
      x = size_at(a, ++i);
    } else if (x > y && is_cut(a[i], x, y)) {
      x /= y;
      y = size_at(b, ++j);
    } else {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

}  // namespace hydro::shrink
