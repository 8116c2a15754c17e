// hydro/shrink/heads.h — whether an attention shrinks by fewer heads or by smaller ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

/// Smaller heads than this are not made: there are fewer of them instead.
inline constexpr std::int64_t kLeastHead = 4;

/// What is settled of a width before the rest is chosen.
struct Settled {
  std::int64_t size = 0;
  bool scales = false;  // follows the width, even where it is too small to shrink
  bool counts_heads = false;
  std::string held_because{};  // empty: it shrinks by S
};

/// Heads stay and their size shrinks, unless that would fall under kLeastHead or is pinned (as
/// rotary tables do): then there are fewer heads, of keys and values first where queries share
/// them.
[[nodiscard]] std::map<AtomId, Settled> settle_heads(const Analysis& analysis, double scaling);

}  // namespace hydro::shrink
