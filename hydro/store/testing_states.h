// hydro/store/testing_states.h — states of trials for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hydro/base/testing.h"
#include "hydro/store/trial_state.h"

namespace hydro::store::testing {

/// At `step`, with a weight of `elements` numbers that depend on both, and a count.
[[nodiscard]] inline TrialState state_of(std::int64_t step, std::size_t elements) {
  std::vector<float> weights(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    weights[i] = static_cast<float>(step) + 1 / static_cast<float>(i + 1);
  }
  TrialState state{.step = step, .evaluated = step - 1, .reported = step - 1, .tensors = {}};
  state.tensors["state/weight"] = {.dtype = "F32",
                                   .shape = {static_cast<std::int64_t>(elements)},
                                   .bytes = hydro::testing::bytes_of(weights)};
  state.tensors["updates"] = {
      .dtype = "I64", .shape = {1}, .bytes = hydro::testing::bytes_of(std::vector{step})};
  return state;
}

}  // namespace hydro::store::testing
