// hydro/shrink/atoms.h — labelled dimensions: every dimension of every tensor is an ordered
// list of atoms, its factors (outer to inner). Atoms that must agree are joined (union-find).
// An atom may be split into an outer and an inner factor, or cut into parts that lie end to end
// (a concatenation is one too), and every holder then sees that. So numbers that merely look
// alike are never confused. Size-1 dimensions hold no atom. Source: pt2-and-libtorch.md,
// section 3.2.
//
//   factor  an atom that is not split; it may be a sum of parts
//   leaf    an atom that is neither split nor a sum: what shrinks or is pinned
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydro::shrink {

enum class AtomId : std::int32_t {};

/// The factors of one dimension, outer to inner; empty: size 1.
using Dimension = std::vector<AtomId>;
/// One entry a dimension of a tensor.
using Dimensions = std::vector<Dimension>;

class Atoms {
 public:
  /// A dimension of `size` that nothing holds yet.
  Dimension add_free(std::int64_t size);
  /// A dimension that never shrinks.
  Dimension add_pinned(std::int64_t size, std::string_view reason);
  /// A dimension of a parameter or buffer; the first such name of a class becomes the class's.
  Dimension add_state(std::int64_t size, std::string name);
  /// The parts end to end.
  Dimension add_sum(std::vector<Dimension> parts);
  /// From here on the dimension's sizes come from a trainable parameter: it may be a width.
  void mark_parameter(const Dimension& dimension);
  void pin(const Dimension& dimension, std::string_view reason);
  /// As pin(), in place of any reason so far.
  void pin_above_all(const Dimension& dimension, std::string_view reason);

  [[nodiscard]] Dimension factors(const Dimension& dimension) const;
  [[nodiscard]] Dimension leaves(const Dimension& dimension) const;
  [[nodiscard]] Dimension all_leaves() const;
  [[nodiscard]] std::int64_t size(const Dimension& dimension) const;

  [[nodiscard]] std::int64_t size(AtomId factor) const { return at(factor).size; }

  /// Empty unless the factor is a sum.
  [[nodiscard]] const std::vector<Dimension>& parts(AtomId factor) const {
    return at(factor).parts;
  }

  [[nodiscard]] const std::string& name(AtomId leaf) const { return at(leaf).name; }

  [[nodiscard]] const std::string& pinned_because(AtomId leaf) const {
    return at(leaf).pinned_because;
  }

  [[nodiscard]] bool is_parameter(AtomId leaf) const { return at(leaf).parameter; }

  /// Comes from a parameter and is not pinned.
  [[nodiscard]] bool is_width(AtomId leaf) const;
  [[nodiscard]] bool has_width(const Dimension& dimension) const;
  [[nodiscard]] bool is_pinned(const Dimension& dimension) const;

  /// Makes both the same, splitting where one is finer. False where their factors do not line
  /// up: an opaque reshape, of which as few factors as possible are pinned.
  [[nodiscard]] bool unify(const Dimension& left,
                           const Dimension& right,
                           std::string_view reason_to_pin);
  /// As unify() for lists of dimensions laid end to end, as a reshape does.
  [[nodiscard]] bool unify_flat(const Dimensions& left,
                                const Dimensions& right,
                                std::string_view reason_to_pin);
  /// Whether the sizes of the factors would line up.
  [[nodiscard]] bool lines_up(const Dimension& left, const Dimension& right) const;

  /// Entries [begin, end) of the dimension, which is cut there; empty when that would go
  /// through the middle of a factor.
  [[nodiscard]] std::optional<Dimension> part(const Dimension& whole,
                                              std::int64_t begin,
                                              std::int64_t end);
  /// Pins the parts that a cut left and nothing took, where one that was taken is pinned.
  void pin_unused_parts(std::string_view reason);

 private:
  struct Atom {
    std::int64_t size = 0;
    AtomId parent{-1};
    AtomId outer{-1};
    AtomId inner{-1};
    std::vector<Dimension> parts{};
    bool parameter = false;
    bool unused_part = false;  // made by a cut, and nothing else holds it
    std::string pinned_because{};
    std::string name{};
    std::int32_t order =
        std::numeric_limits<std::int32_t>::max();  // rank of the name: lowest wins
  };

  [[nodiscard]] const Atom& at(AtomId id) const { return atoms_[static_cast<std::size_t>(id)]; }

  Atom& at(AtomId id) { return atoms_[static_cast<std::size_t>(id)]; }

  AtomId add(Atom atom);
  [[nodiscard]] AtomId find(AtomId id) const;
  [[nodiscard]] bool is_leaf(AtomId id) const;
  void append_factors(AtomId id, Dimension& out) const;
  void append_leaves(AtomId id, Dimension& out) const;
  void split(AtomId id, std::int64_t outer_size);
  void join(AtomId left, AtomId right);
  bool join_sums(AtomId left, AtomId right);
  bool match_heads(AtomId left, AtomId right);
  void pin_least_run(Dimension& left, Dimension& right, std::string_view reason);
  bool cut(const Dimension& dimension, std::int64_t offset);
  bool cut_factor(AtomId factor, std::int64_t offset);
  void cut_leaf(AtomId leaf, std::int64_t offset);
  void name_parts(AtomId sum, const Atom& whole);
  [[nodiscard]] std::vector<Dimension> flat_parts(const Dimension& dimension) const;

  std::vector<Atom> atoms_;
  std::int32_t names_ = 0;
};

}  // namespace hydro::shrink
