// hydro/shrink/sizes.h — the new size of every width: ceil(n/S), minimum width, products of
// widths shrunk once, heads or their size.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

class Sizes {
 public:
  struct Width {
    std::int64_t size = 0;  // the surrogate's
    bool scales = true;     // false: a factor of a product that another factor shrinks
    std::int64_t whole =
        std::numeric_limits<std::int64_t>::max();  // least whole dimension it is in
    std::string held_because{};
  };

  Sizes(const Atoms& atoms, std::map<AtomId, Width> widths)
      : atoms_(&atoms), widths_(std::move(widths)) {}

  /// The surrogate's size.
  [[nodiscard]] std::int64_t of(const Dimension& dimension) const;

  [[nodiscard]] std::int64_t target(const Dimension& dimension) const {
    return atoms_->size(dimension);
  }

  /// Where entry `offset` of the target's dimension lies in the surrogate's; boundaries of
  /// parts stay boundaries.
  [[nodiscard]] std::int64_t offset(const Dimension& dimension, std::int64_t offset) const;
  /// target / surrogate
  [[nodiscard]] double ratio(const Dimension& dimension) const;
  /// Holds a factor that follows the width (even where it is too small to shrink).
  [[nodiscard]] bool scales(const Dimension& dimension) const;
  /// Null for a pinned atom.
  [[nodiscard]] const Width* find(AtomId leaf) const;
  /// As if what `reason` pins shrank by `scaling`.
  [[nodiscard]] Sizes without_pin(const std::string& reason, double scaling) const;

 private:
  [[nodiscard]] std::int64_t of_factor(AtomId factor) const;

  const Atoms* atoms_;  // the analysis owns it
  std::map<AtomId, Width> widths_;
};

[[nodiscard]] Sizes choose_sizes(const Analysis& analysis,
                                 const ir::Model& model,
                                 const Options& options);

/// Every class of a parameter's dimension, in state order; pinned ones once for each reason and
/// size.
[[nodiscard]] std::vector<WidthClass> width_classes(const Analysis& analysis,
                                                    const ir::Model& model,
                                                    const Sizes& sizes,
                                                    double scaling);

/// Whether the reason names a line of the user's code or data of the model: it could be
/// otherwise.
[[nodiscard]] bool is_avoidable(const std::string& pinned_because);

}  // namespace hydro::shrink
