#include "hydro/store/trial_state.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/store/testing_states.h"

namespace hydro::store {
namespace {

using hydro::testing::outcome;
using hydro::testing::TemporaryFolder;
using testing::state_of;

TEST(TrialStateFile, GivesBackEveryBit) {
  const TemporaryFolder folder;
  TrialState state = state_of(3, 100);
  state.loss_sum = 0.1 + 0.2;
  ASSERT_EQ(outcome(write_trial_state(folder / "a", state)), "ok");
  EXPECT_EQ(read_trial_state(folder / "a").value(), state);
}

TEST(TrialStateFile, KeepsALossThatIsNoNumber) {
  const TemporaryFolder folder;
  TrialState state = state_of(3, 4);
  state.loss_sum = std::nan("7");
  ASSERT_EQ(outcome(write_trial_state(folder / "a", state)), "ok");
  const TrialState read = read_trial_state(folder / "a").value();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read.loss_sum),
            std::bit_cast<std::uint64_t>(state.loss_sum));
}

TEST(TrialStateFile, IsRefusedWhenTornAnywhere) {
  const TemporaryFolder folder;
  ASSERT_EQ(outcome(write_trial_state(folder / "a", state_of(3, 100))), "ok");
  const Bytes whole = read_file(folder / "a").value();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1}) {
    const Bytes torn(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(outcome(write_file_durably(folder / "a", torn)), "ok");
    EXPECT_EQ(outcome(read_trial_state(folder / "a")), "H0631") << size << " bytes";
  }
}

TEST(TrialStateFile, IsRefusedWhenAByteOfItsDataChanged) {
  const TemporaryFolder folder;
  ASSERT_EQ(outcome(write_trial_state(folder / "a", state_of(3, 100))), "ok");
  Bytes content = read_file(folder / "a").value();
  content.back() ^= std::byte{1};
  ASSERT_EQ(outcome(write_file_durably(folder / "a", content)), "ok");
  const auto read = read_trial_state(folder / "a");
  ASSERT_EQ(outcome(read), "H0631");
  EXPECT_EQ(read.error().why, "its checksum does not match its content");
  EXPECT_EQ(read.error().where, (folder / "a").string());
}

TEST(TrialStateFile, IsRefusedWhenItIsAnotherFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(outcome(write_safetensors(folder / "a", {}, {})), "ok");
  EXPECT_EQ(outcome(read_trial_state(folder / "a")), "H0631");
  EXPECT_EQ(outcome(read_trial_state(folder / "none")), "H0631");
}

TEST(TrialState, IsAsLargeAsItsTensors) {
  EXPECT_EQ(state_of(3, 100).size(), 400U + 8U);
}

}  // namespace
}  // namespace hydro::store
