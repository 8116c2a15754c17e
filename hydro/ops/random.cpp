// torch's random ops with our own random numbers. A node that draws has a result of its own in
// every trial.
#include <cstdint>
#include <string_view>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/draw.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

Sizes sizes_of(const Call& call, std::string_view name) {
  return trial_sizes(call.tensor(name), call.axis(name));
}

/// Uniforms in [0, 1) of the output's precision: rounding must not reach 1.
at::Tensor below_one(const Call& call, const Sizes& sizes) {
  at::Tensor u = uniforms(call, sizes).to(call.output_dtype());
  switch (call.output_dtype()) {
    case at::kFloat:
      return u.clamp_max(1 - 0x1p-24);
    case at::kHalf:
      return u.clamp_max(1 - 0x1p-11);
    case at::kBFloat16:
      return u.clamp_max(1 - 0x1p-8);
    default:
      return u;
  }
}

void put_drawn(const Call& call, const at::Tensor& drawn) {
  call.put(placed(call, drawn.to(call.output_dtype())));
}

void put_integers(const Call& call, const Sizes& sizes, std::int64_t low, std::int64_t high) {
  const auto range = static_cast<double>(high - low);
  put_drawn(call, at::floor(uniforms(call, sizes) * range) + low);
}

/// Where a mean or deviation is a tensor, the broadcast of both; else the node's own sizes.
Sizes normal_sizes(const Call& call) {
  if (call.has("size")) {
    return call.integers("size");
  }
  Sizes sizes;
  for (const std::string_view name : {"mean", "std"}) {
    if (call.is_tensor(name)) {
      sizes = at::infer_size(sizes, sizes_of(call, name));
    }
  }
  return sizes;
}

}  // namespace

void rand(const Call& call) {
  call.put(placed(call, below_one(call, call.integers("size"))));
}

void rand_like(const Call& call) {
  call.put(placed(call, below_one(call, sizes_of(call, "self"))));
}

void randn(const Call& call) {
  put_drawn(call, normals(call, call.integers("size")));
}

void randn_like(const Call& call) {
  put_drawn(call, normals(call, sizes_of(call, "self")));
}

void randint(const Call& call) {
  put_integers(call, call.integers("size"), call.integer_or("low", 0), call.integer("high"));
}

void randint_like(const Call& call) {
  put_integers(call, sizes_of(call, "self"), call.integer_or("low", 0), call.integer("high"));
}

void randperm(const Call& call) {
  // The order of as many uniforms; equal ones keep their places.
  put_drawn(call, at::argsort(uniforms(call, {call.integer("n")}), /*stable=*/true));
}

void bernoulli(const Call& call) {
  const at::Tensor u = placed(call, uniforms(call, sizes_of(call, "self")));
  call.put(at::lt(u, call.aligned(call.has("p") ? "p" : "self")).to(call.output_dtype()));
}

void uniform(const Call& call) {
  const double from = call.number("from");
  const double to = call.number("to");
  put_drawn(call, uniforms(call, sizes_of(call, "self")) * (to - from) + from);
}

void normal_like(const Call& call) {
  put_drawn(call,
            normals(call, sizes_of(call, "self")) * call.number("std") + call.number("mean"));
}

void normal(const Call& call) {
  const at::Tensor z = placed(call, normals(call, normal_sizes(call)));
  call.put((z * call.aligned("std") + call.aligned("mean")).to(call.output_dtype()));
}

void exponential(const Call& call) {
  // Half a step above the uniform: neither 0 nor infinity.
  const at::Tensor u = uniforms(call, sizes_of(call, "self")) + 0x1p-33;
  put_drawn(call, at::neg(at::log1p(at::neg(u))) / call.number("lambd"));
}

void rrelu(const Call& call) {
  if (!fuse::is_random(call.node())) {
    boxed_aligned(call);
    return;
  }
  const double lower = call.scalar("lower").toDouble();
  const double upper = call.scalar("upper").toDouble();
  const at::Tensor x = call.aligned("self");
  const at::Tensor slope = uniforms(call, sizes_of(call, "self")) * (upper - lower) + lower;
  call.put(at::where(x.gt(0), x, x * placed(call, slope.to(x.scalar_type()))));
}

}  // namespace hydro::ops
