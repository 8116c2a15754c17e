// hydro/ops/table.h — the one table of all ops that we run. One more op is one more row here,
// one in `shrink`'s table, and a parity case. Free of libtorch, so that the table compiles in a
// second.
#pragma once

#include <span>
#include <string_view>

namespace hydro::ops {

class Call;
using Run = void (*)(const Call& call);

/// What parity tests allow, relative to the reference tensor's largest element.
struct Tolerance {
  double single_precision = 1e-4;
  double double_precision = 1e-10;
};

struct Row {
  std::string_view op;
  Run run_one = nullptr;      // one trial, or all operands shared: the plain op
  Run run_stacked = nullptr;  // K trials; some operand carries the trial axis
  Tolerance tolerance = {};
  std::string_view note = {};  // how K trials become one call; why a tolerance is wider
};

/// Several rows of one op: the best first, the reference last.
[[nodiscard]] std::span<const Row> table();
/// The best row of an op; null when it has none.
[[nodiscard]] const Row* find_row(std::string_view op);

}  // namespace hydro::ops
