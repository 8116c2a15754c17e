// hydro/ops/program_cache.h — what the runs of one Program have found out, for later runs.
// Thread-safety: all of it may be used by several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

/// What the constant nodes of a graph depend on: the shapes of the user's inputs, and the
/// constants themselves (held, so that none of them is another one at the same address).
struct ConstantKey {
  Place place;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<at::Tensor> sources;

  [[nodiscard]] bool operator==(const ConstantKey& other) const;
};

/// Results of constant nodes that other nodes read.
struct Constants {
  ConstantKey key;
  std::vector<std::pair<ir::ValueId, at::Tensor>> tensors;
  std::vector<std::pair<ir::ValueId, std::int64_t>> integers;
};

class ProgramCache {
 public:
  explicit ProgramCache(std::int32_t nodes) : loops_(static_cast<std::size_t>(nodes)) {}

  /// Null when no run had this key lately.
  [[nodiscard]] std::shared_ptr<const Constants> find(const ConstantKey& key) const;
  /// Keeps the last few: the batches of training and evaluation, whole and last.
  void add(Constants constants);

  /// Whether vmap has failed at this node, so that trials run one after the other.
  [[nodiscard]] bool loops(std::size_t node) const {
    return loops_[node].load(std::memory_order_relaxed);
  }

  void set_loops(std::size_t node) { loops_[node].store(true, std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<bool>> loops_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Constants>> constants_;  // guarded by mutex_; oldest first
};

}  // namespace hydro::ops
