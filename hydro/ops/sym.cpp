// Sizes computed in the graph: always those of one trial.
#include <cstddef>
#include <cstdint>

#include "hydro/base/result.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"

namespace hydro::ops {

namespace {

/// The operands of an arithmetic node, by place: Python's operators name them differently.
std::int64_t operand(const Call& call, std::size_t place) {
  HYDRO_CHECK(place < call.node().arguments.size(),
              call.node().describe() + ": operand missing");
  return call.integer(call.node().arguments[place].name);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  HYDRO_CHECK(b != 0, "a size is divided by 0");
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

}  // namespace

void size_of(const Call& call) {
  const std::int64_t dim =
      stacked_dim(call.integer("dim"), call.trial_rank("self"), call.axis("self"));
  call.put_integer(call.tensor("self").size(dim));
}

void size_add(const Call& call) {
  call.put_integer(operand(call, 0) + operand(call, 1));
}

void size_sub(const Call& call) {
  call.put_integer(operand(call, 0) - operand(call, 1));
}

void size_mul(const Call& call) {
  call.put_integer(operand(call, 0) * operand(call, 1));
}

void size_floor_div(const Call& call) {
  call.put_integer(floor_div(operand(call, 0), operand(call, 1)));
}

void size_mod(const Call& call) {
  const std::int64_t a = operand(call, 0);
  const std::int64_t b = operand(call, 1);
  call.put_integer(a - floor_div(a, b) * b);
}

}  // namespace hydro::ops
