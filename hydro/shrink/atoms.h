// hydro/shrink/atoms.h — labelled dimensions: every dimension of every tensor is an ordered
// list of atoms. An atom is one factor of a size (outer to inner). Atoms that must agree are
// joined (union-find); an atom may be split into an outer and an inner one, and every holder
// then sees two. So numbers that merely look alike are never confused. Size-1 dimensions hold
// no atom. Source: pt2-and-libtorch.md, section 3.2.
#pragma once

#include <cstdint>
#include <limits>
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
  /// From here on the dimension's sizes come from a trainable parameter: it may be a width.
  void mark_parameter(const Dimension& dimension);
  void pin(const Dimension& dimension, std::string_view reason);

  /// The unsplit representatives, in order.
  [[nodiscard]] Dimension leaves(const Dimension& dimension) const;
  [[nodiscard]] std::int64_t size(const Dimension& dimension) const;

  [[nodiscard]] std::int64_t size(AtomId leaf) const { return at(leaf).size; }

  [[nodiscard]] const std::string& name(AtomId leaf) const { return at(leaf).name; }

  [[nodiscard]] const std::string& pinned_because(AtomId leaf) const {
    return at(leaf).pinned_because;
  }

  /// Comes from a parameter and is not pinned.
  [[nodiscard]] bool is_width(AtomId leaf) const;
  [[nodiscard]] bool has_width(const Dimension& dimension) const;

  /// Makes both the same, splitting where one is finer. False (and both pinned) when their
  /// factors do not line up: an opaque reshape.
  [[nodiscard]] bool unify(const Dimension& left,
                           const Dimension& right,
                           std::string_view reason_to_pin);
  /// As unify() for lists of dimensions laid end to end, as a reshape does.
  [[nodiscard]] bool unify_flat(const Dimensions& left,
                                const Dimensions& right,
                                std::string_view reason_to_pin);

 private:
  struct Atom {
    std::int64_t size = 0;
    AtomId parent{-1};
    AtomId outer{-1};
    AtomId inner{-1};
    bool parameter = false;
    std::string pinned_because{};
    std::string name{};
    std::int32_t order =
        std::numeric_limits<std::int32_t>::max();  // rank of the name: lowest wins
  };

  [[nodiscard]] const Atom& at(AtomId id) const { return atoms_[static_cast<std::size_t>(id)]; }

  Atom& at(AtomId id) { return atoms_[static_cast<std::size_t>(id)]; }

  AtomId add(Atom atom);
  [[nodiscard]] AtomId find(AtomId id) const;
  void append_leaves(AtomId id, Dimension& out) const;
  void split(AtomId id, std::int64_t outer_size);
  void join(AtomId left, AtomId right);
  bool match_heads(AtomId left, AtomId right);

  std::vector<Atom> atoms_;
  std::int32_t names_ = 0;
};

}  // namespace hydro::shrink
