// hydro/ir/model.h — an exported model: its two graphs, its state-dict entries with the laws
// that initialise them, and the data of all tensors that are not parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

enum class LawKind : std::uint8_t { kUniform, kNormal, kTruncatedNormal, kConstant };

/// "uniform", "normal", "truncated_normal", "constant": the words of the manifest and of
/// `check`.
[[nodiscard]] std::string_view law_name(LawKind kind);
[[nodiscard]] std::optional<LawKind> find_law(std::string_view name);

/// How rows [row_begin, row_end) of a tensor are drawn. A 0-d tensor has one row.
/// uniform: low, high. normal: mean, std. truncated_normal: mean and std of the parent, cut at
/// low and high. constant: value. Unused numbers are 0.
struct Law {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  LawKind kind = LawKind::kConstant;
  double mean = 0;
  double std = 0;
  double low = 0;
  double high = 0;
  double value = 0;
  bool operator==(const Law&) const = default;
};

/// Entries [begin, end) along one dimension, which start at zero whatever the laws say.
struct ZeroBlock {
  std::int64_t dim = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const ZeroBlock&) const = default;
};

enum class StateKind : std::uint8_t { kParameter, kFrozen, kBuffer, kNonPersistent };

/// One state-dict entry, in state-dict order. `tie`: the entry that holds the storage, empty
/// when it is this one.
struct StateEntry {
  std::string name;
  StateKind kind = StateKind::kParameter;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::string tie;
  std::vector<Law> laws;   // parameters only, rows in order, covering all rows
  std::int64_t index = 0;  // place in the manifest: keys the entry's initial random numbers
  std::vector<ZeroBlock> zeros = {};
};

/// A tensor's data, row-major.
struct TensorData {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  Bytes bytes;
};

/// Both graphs are pure (functionalized), cut to the selected output, and name their state by
/// state-dict name; tied entries are merged: only the holder is an input.
struct Model {
  Graph train;
  Graph eval;
  std::vector<StateEntry> state;
  std::map<std::string, TensorData>
      tensors;  // buffers, frozen parameters (by state name) and graph constants

  /// Null when there is no such entry.
  [[nodiscard]] const StateEntry* find_state(std::string_view name) const;
};

}  // namespace hydro::ir
