// hydro/ops/ops.h — how one node of a graph runs on tensors: its operands (Call) and the values
// of a run (Frame). With K trials in one graph each value carries the trial axis where `fuse`
// marked it. The ops: hydro/ops/table.h.
//
//   Call    one node about to run: typed access to its arguments, and put() for its results
//   Frame   the values of one run, by ValueId
//
// Ops call plain at:: functions, so autograd is libtorch's own. No op mutates an operand, but
// where Call::reuse() says that its first operand's memory is free. No op draws from torch's
// random state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

/// Where a run's random numbers come from: one key a trial, stream_key(study seed, trial id or
/// "target", "dropout"), and the step. The node's position completes the site.
struct RandomStreams {
  std::vector<std::uint64_t> keys;
  std::uint32_t step = 0;
};

/// The values of one run. Integers are sizes computed in the graph.
class Frame {
 public:
  explicit Frame(std::int32_t value_count)
      : tensors_(static_cast<std::size_t>(value_count)),
        integers_(static_cast<std::size_t>(value_count)) {}

  [[nodiscard]] const at::Tensor& tensor(ir::ValueId id) const { return tensors_[index(id)]; }

  [[nodiscard]] std::int64_t integer(ir::ValueId id) const { return integers_[index(id)]; }

  void set(ir::ValueId id, at::Tensor tensor) { tensors_[index(id)] = std::move(tensor); }

  void set(ir::ValueId id, std::int64_t integer) { integers_[index(id)] = integer; }

  void free(ir::ValueId id) { tensors_[index(id)] = at::Tensor(); }

 private:
  static std::size_t index(ir::ValueId id) { return static_cast<std::size_t>(id); }

  std::vector<at::Tensor> tensors_;
  std::vector<std::int64_t> integers_;
};

/// Where a run computes and how precisely: as its feeds do.
struct Place {
  at::Device device = at::kCPU;
  at::ScalarType real = at::kFloat;  // what the graph calls float32
  bool operator==(const Place&) const = default;
};

class ProgramCache;

/// What a node's run needs beside the node; the same for all nodes of a run.
struct Scene {
  const ir::Graph& graph;
  const fuse::Axes& axes;         // all kShared when trials is 1
  std::int64_t trials = 1;        // K
  const RandomStreams& random;    // K keys
  Place place = {};               // of results that no operand decides
  ProgramCache* cache = nullptr;  // the program's; null: nothing is remembered
};

class Call {
 public:
  Call(const Scene& scene, const ir::Node& node, Frame& frame, bool reuse)
      : scene_(scene), node_(node), frame_(frame), reuse_(reuse) {}

  [[nodiscard]] const ir::Node& node() const { return node_; }

  [[nodiscard]] std::int64_t trials() const { return scene_.trials; }

  [[nodiscard]] const RandomStreams& random() const { return scene_.random; }

  [[nodiscard]] const Place& place() const { return scene_.place; }

  [[nodiscard]] ProgramCache* cache() const { return scene_.cache; }

  /// The node's index in the graph.
  [[nodiscard]] std::size_t node_index() const {
    return static_cast<std::size_t>(&node_ - scene_.graph.nodes().data());
  }

  /// The first operand is dead after this node and nobody else needs its memory: an in-place op
  /// may be used.
  [[nodiscard]] bool reuse() const { return reuse_; }

  /// False for an absent argument and for None.
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool is_tensor(std::string_view name) const;
  /// As it lies in the frame, wherever it carries the axis.
  [[nodiscard]] const at::Tensor& tensor(std::string_view name) const;
  [[nodiscard]] std::optional<at::Tensor> optional_tensor(std::string_view name) const;
  /// A number or bool of the node, or an integer value of the graph.
  [[nodiscard]] at::Scalar scalar(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view name, std::int64_t absent) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;

  [[nodiscard]] double number(std::string_view name) const { return node_.number(name); }

  [[nodiscard]] bool boolean(std::string_view name) const { return node_.boolean(name); }

  [[nodiscard]] const std::vector<ir::ValueId>& values(std::string_view name) const;

  [[nodiscard]] bool is_tensor(ir::ValueId value) const {
    return scene_.graph.value(value).is_tensor();
  }

  [[nodiscard]] std::int64_t integer(ir::ValueId value) const { return frame_.integer(value); }

  /// torch's name of the graph's type; float32 is the run's own precision.
  [[nodiscard]] at::ScalarType dtype(ir::DType dtype) const;
  /// Of the node's first output.
  [[nodiscard]] at::ScalarType output_dtype() const;

  /// Where the operand carries the axis; kShared for a number.
  [[nodiscard]] fuse::Axis axis(std::string_view name) const;

  [[nodiscard]] fuse::Axis axis(ir::ValueId value) const {
    return scene_.axes[static_cast<std::size_t>(value)];
  }

  /// Where this node's first output must carry it.
  [[nodiscard]] fuse::Axis output_axis() const;
  /// Rank of the operand in one trial.
  [[nodiscard]] std::int64_t trial_rank(std::string_view name) const;
  /// The operand with its axis at `wanted`: see move_axis().
  [[nodiscard]] at::Tensor stacked(std::string_view name, fuse::Axis wanted) const;
  [[nodiscard]] at::Tensor stacked(ir::ValueId value, fuse::Axis wanted) const;

  [[nodiscard]] const at::Tensor& tensor(ir::ValueId value) const {
    return frame_.tensor(value);
  }

  [[nodiscard]] std::optional<at::Tensor> optional_stacked(std::string_view name,
                                                           fuse::Axis wanted) const;
  /// The operand or number, ready to broadcast with others at the output's axis and rank.
  [[nodiscard]] at::Tensor aligned(std::string_view name) const;
  [[nodiscard]] at::Tensor aligned(ir::ValueId value) const;

  void put(at::Tensor result) const { put(0, std::move(result)); }

  void put(std::size_t output, at::Tensor result) const {
    frame_.set(node_.outputs[output], std::move(result));
  }

  void put_integer(std::int64_t result) const { put_integer(0, result); }

  void put_integer(std::size_t output, std::int64_t result) const {
    frame_.set(node_.outputs[output], result);
  }

  /// A constant or computed integer of a list.
  [[nodiscard]] std::int64_t resolve(const ir::IntItem& item) const;

 private:
  const Scene& scene_;
  const ir::Node& node_;
  Frame& frame_;
  bool reuse_;
};

/// torch's name of a type.
[[nodiscard]] at::ScalarType scalar_type(ir::DType dtype);
/// `tensor`, which carries the axis at `from`, with its axis at `wanted` (a view); a shared one
/// is expanded to K trials, without a copy.
[[nodiscard]] at::Tensor move_axis(const at::Tensor& tensor,
                                   fuse::Axis from,
                                   fuse::Axis wanted,
                                   std::int64_t trials);
/// The sizes of one trial.
[[nodiscard]] std::vector<std::int64_t> trial_sizes(const at::Tensor& tensor, fuse::Axis axis);
/// Where dimension `dim` of one trial (negative: from the end) lies in a tensor that carries
/// the axis at `axis`.
[[nodiscard]] std::int64_t stacked_dim(std::int64_t dim,
                                       std::int64_t trial_rank,
                                       fuse::Axis axis);

}  // namespace hydro::ops
