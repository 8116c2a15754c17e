// Scaled dot product attention. K trials are K times the batch of one call. With dropout the
// product is written out, since torch's own masks come from its own generator.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/draw.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// Queries, keys, values and mask of one call: [..., heads, tokens, width].
struct Attention {
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  std::optional<at::Tensor> mask;
  bool is_causal = false;
  bool shares_keys = false;  // groups of query heads share key and value heads
  std::optional<double> scale;
};

std::optional<double> scale_of(const Call& call) {
  return call.has("scale") ? std::optional(call.number("scale")) : std::nullopt;
}

bool shares_keys(const Call& call) {
  return call.has("enable_gqa") && call.boolean("enable_gqa");
}

Attention attention_of_one(const Call& call) {
  return {.query = call.tensor("query"),
          .key = call.tensor("key"),
          .value = call.tensor("value"),
          .mask = call.optional_tensor("attn_mask"),
          .is_causal = call.boolean("is_causal"),
          .shares_keys = shares_keys(call),
          .scale = scale_of(call)};
}

at::Tensor attend(const Attention& a) {
  return at::scaled_dot_product_attention(a.query,
                                          a.key,
                                          a.value,
                                          a.mask,
                                          /*dropout_p=*/0.0,
                                          a.is_causal,
                                          a.scale,
                                          a.shares_keys);
}

at::Tensor with_query_heads(const at::Tensor& shared, const at::Tensor& query) {
  return shared.repeat_interleave(query.size(-3) / shared.size(-3), -3);
}

/// Logits with -inf where a query must not look.
at::Tensor masked(at::Tensor logits, const Attention& a) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  if (a.is_causal) {
    const at::Tensor seen =
        at::ones({logits.size(-2), logits.size(-1)}, logits.options().dtype(at::kBool)).tril();
    logits = logits.masked_fill(seen.logical_not(), kNever);
  }
  if (!a.mask) {
    return logits;
  }
  return a.mask->scalar_type() == at::kBool ? logits.masked_fill(a.mask->logical_not(), kNever)
                                            : logits + *a.mask;
}

/// Attention whose weights are multiplied by `keep`, which has their shape.
at::Tensor attend_dropped(const Attention& a, const at::Tensor& keep) {
  const double scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(a.query.size(-1))));
  const at::Tensor key = a.shares_keys ? with_query_heads(a.key, a.query) : a.key;
  const at::Tensor value = a.shares_keys ? with_query_heads(a.value, a.query) : a.value;
  const at::Tensor logits = at::matmul(a.query * scale, key.transpose(-2, -1));
  const at::Tensor weights = at::_safe_softmax(masked(logits, a), -1);
  return at::matmul(weights * keep, value);
}

/// The sizes in front of heads, tokens and width, as query, key and value broadcast.
Sizes leading_sizes(const Call& call) {
  Sizes sizes;
  for (const std::string_view name : {"query", "key", "value"}) {
    Sizes own = trial_sizes(call.tensor(name), call.axis(name));
    own.resize(own.size() - std::min<std::size_t>(own.size(), 3));
    sizes = at::infer_size(sizes, own);
  }
  return sizes;
}

/// The sizes of one trial's attention weights.
Sizes weight_sizes(const Call& call) {
  Sizes sizes = leading_sizes(call);
  const Sizes query = trial_sizes(call.tensor("query"), call.axis("query"));
  if (query.size() > 2) {
    const Sizes key = trial_sizes(call.tensor("key"), call.axis("key"));
    const std::int64_t key_heads = key.size() > 2 ? key[key.size() - 3] : 1;
    sizes.push_back(std::max(query[query.size() - 3], key_heads));
  }
  sizes.push_back(query[query.size() - 2]);
  sizes.push_back(call.tensor("key").size(-2));
  return sizes;
}

/// How K trials become one call on four dimensions, [K * leading, heads, tokens, width], and
/// back. With less than four in one trial K is the batch.
class Folding {
 public:
  explicit Folding(const Call& call)
      : call_(call),
        rank_(std::max<std::int64_t>(call.trial_rank("query"), 2)),
        leading_(leading_sizes(call)) {}

  [[nodiscard]] at::Tensor operand(std::string_view name) const {
    return folded(padded(call_.stacked(name, Axis::kFront)));
  }

  /// Copied for each sample only where samples differ and trials do not, or the other way.
  [[nodiscard]] at::Tensor mask() const {
    const bool is_shared = call_.axis("attn_mask") == Axis::kShared;
    const at::Tensor mask = padded(is_shared ? call_.tensor("attn_mask").unsqueeze(0)
                                             : call_.stacked("attn_mask", Axis::kFront));
    const bool is_alike =
        mask.size(0) == 1 && std::ranges::all_of(mask.sizes().slice(1, leading_.size()),
                                                 [](std::int64_t size) { return size == 1; });
    return is_alike ? mask.flatten(0, static_cast<std::int64_t>(leading_.size()))
                    : folded(mask);
  }

  /// [K * leading, ...] -> [K, leading..., ...]
  [[nodiscard]] at::Tensor unfolded(const at::Tensor& y) const {
    if (rank_ == 2) {
      return y.squeeze(1);
    }
    Sizes sizes = leading_;
    sizes.insert(sizes.begin(), call_.trials());
    return leading_.empty() ? y : y.unflatten(0, sizes);
  }

  /// Of [K, ...], one trial of which has the rank of the weights.
  [[nodiscard]] at::Tensor folded_weights(const at::Tensor& keep) const {
    return folded(padded(keep));
  }

 private:
  /// [K, 1, ..., tokens, width]: the query's rank, at least three in one trial.
  [[nodiscard]] at::Tensor padded(at::Tensor front) const {
    while (front.dim() < std::max<std::int64_t>(rank_, 3) + 1) {
      front = front.unsqueeze(1);
    }
    return front;
  }

  [[nodiscard]] at::Tensor folded(const at::Tensor& front) const {
    Sizes sizes = front.sizes().vec();
    sizes[0] = call_.trials();
    std::ranges::copy(leading_, sizes.begin() + 1);
    return front.expand(sizes).flatten(0, static_cast<std::int64_t>(leading_.size()));
  }

  const Call& call_;
  std::int64_t rank_;
  Sizes leading_;
};

Attention attention_of_all(const Call& call, const Folding& folding) {
  return {.query = folding.operand("query"),
          .key = folding.operand("key"),
          .value = folding.operand("value"),
          .mask = call.has("attn_mask") ? std::optional(folding.mask()) : std::nullopt,
          .is_causal = call.boolean("is_causal"),
          .shares_keys = shares_keys(call),
          .scale = scale_of(call)};
}

at::Tensor weight_masks(const Call& call) {
  return keep_masks(call, weight_sizes(call), call.number("dropout_p"), call.tensor("query"));
}

}  // namespace

void attention(const Call& call) {
  const Attention a = attention_of_one(call);
  call.put(fuse::is_random(call.node()) ? attend_dropped(a, weight_masks(call)) : attend(a));
}

void attention_stacked(const Call& call) {
  const Folding folding(call);
  const Attention a = attention_of_all(call, folding);
  call.put(folding.unfolded(fuse::is_random(call.node())
                                ? attend_dropped(a, folding.folded_weights(weight_masks(call)))
                                : attend(a)));
}

}  // namespace hydro::ops
