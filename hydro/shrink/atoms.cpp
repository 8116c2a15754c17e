#include "hydro/shrink/atoms.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

AtomId Atoms::find(AtomId id) const {
  while (at(id).parent != kNoAtom) {
    id = at(id).parent;
  }
  return id;
}

void Atoms::append_leaves(AtomId id, Dimension& out) const {
  const AtomId root = find(id);
  const Atom& atom = at(root);
  if (atom.outer == kNoAtom) {
    out.push_back(root);
    return;
  }
  append_leaves(atom.outer, out);
  append_leaves(atom.inner, out);
}

Dimension Atoms::leaves(const Dimension& dimension) const {
  Dimension out;
  for (const AtomId id : dimension) {
    append_leaves(id, out);
  }
  return out;
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
  for (const AtomId id : leaves(dimension)) {
    if (is_width(id)) {
      return true;
    }
  }
  return false;
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

void Atoms::join(AtomId left, AtomId right) {
  HYDRO_CHECK(at(left).size == at(right).size);
  if (at(right).order < at(left).order) {
    std::swap(left, right);
  }
  Atom& kept = at(left);
  Atom& gone = at(right);
  gone.parent = left;
  kept.parameter = kept.parameter || gone.parameter;
  if (kept.pinned_because.empty()) {
    kept.pinned_because = gone.pinned_because;
  }
}

/// Requires: both are leaves. False when neither size divides the other.
bool Atoms::match_heads(AtomId left, AtomId right) {
  const std::int64_t left_size = at(left).size;
  const std::int64_t right_size = at(right).size;
  if (left_size == right_size) {
    join(left, right);
    return true;
  }
  const AtomId larger = left_size > right_size ? left : right;
  const std::int64_t smaller_size = left_size > right_size ? right_size : left_size;
  if (smaller_size <= 1 || at(larger).size % smaller_size != 0) {
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
  while (true) {
    const Dimension a = leaves(left);
    const Dimension b = leaves(right);
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) {
      ++same;
    }
    if (same == a.size() && same == b.size()) {
      return true;
    }
    const bool one_ended = same == a.size() || same == b.size();
    if (one_ended || !match_heads(a[same], b[same])) {
      pin(left, reason_to_pin);
      pin(right, reason_to_pin);
      return false;
    }
  }
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

}  // namespace hydro::shrink
