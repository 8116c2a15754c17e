#include "hydro/report/trial_table.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/report/testing.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::report {
namespace {

using ::testing::ElementsAre;
using testing::finished_study;
using ::testing::IsEmpty;
using testing::kColumns;
using testing::stopped_study;

std::vector<std::int64_t> ids(const tune::State& state, const Selection& selection) {
  std::vector<std::int64_t> out;
  const auto rows = select_trials(state, kColumns, selection).value();
  out.reserve(rows.size());
  for (const tune::TrialRow& row : rows) {
    out.push_back(static_cast<std::int64_t>(row.id));
  }
  return out;
}

// Of finished_study(): 0 has 0.5, 1 failed without a value, 2 has 0.75; all lr 0.5.

TEST(SelectTrials, GivesAllByIdUnlessAskedOtherwise) {
  EXPECT_THAT(ids(finished_study().state(), {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(ids(finished_study().state(), {.reverse = true}), ElementsAre(2, 1, 0));
}

TEST(SelectTrials, SortsWithWhatHasNoValueLastInBothDirections) {
  const tune::State state = finished_study().state();
  EXPECT_THAT(ids(state, {.sort = "value"}), ElementsAre(0, 2, 1));
  EXPECT_THAT(ids(state, {.sort = "-value"}), ElementsAre(2, 0, 1));
  EXPECT_THAT(ids(state, {.sort = "value", .reverse = true}), ElementsAre(2, 0, 1));
  EXPECT_THAT(ids(state, {.sort = "-value", .reverse = true}), ElementsAre(0, 2, 1));
}

TEST(SelectTrials, SortsNumbersByTheirSizeAndEqualOnesById) {
  const tune::State many = testing::open_study(12).state();
  EXPECT_EQ(ids(many, {.sort = "-id"}).front(), 11);
  EXPECT_THAT(ids(finished_study().state(), {.sort = "-lr"}), ElementsAre(0, 1, 2));
}

TEST(SelectTrials, TakesTheMetricsNameForItsValue) {
  EXPECT_THAT(ids(finished_study().state(), {.filters = {"val_accuracy>0.6"}}), ElementsAre(2));
}

TEST(SelectTrials, AsksEachFilter) {
  const tune::State state = finished_study().state();
  EXPECT_THAT(ids(state, {.filters = {"state=finished", "value<=0.5"}}), ElementsAre(0));
  EXPECT_THAT(ids(state, {.filters = {"state=finished", "state=failed"}}), IsEmpty());
}

TEST(SelectTrials, KnowsEveryOperator) {
  const tune::State state = finished_study().state();
  EXPECT_THAT(ids(state, {.filters = {"id<1"}}), ElementsAre(0));
  EXPECT_THAT(ids(state, {.filters = {"id<=1"}}), ElementsAre(0, 1));
  EXPECT_THAT(ids(state, {.filters = {"id > 1"}}), ElementsAre(2));
  EXPECT_THAT(ids(state, {.filters = {"id>=1"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids(state, {.filters = {"id==1"}}), ElementsAre(1));
  EXPECT_THAT(ids(state, {.filters = {"id != 1"}}), ElementsAre(0, 2));
}

TEST(SelectTrials, FitsNoFilterButUnequalWithoutAValue) {
  const tune::State state = finished_study().state();
  EXPECT_THAT(ids(state, {.filters = {"value<9"}}), ElementsAre(0, 2));
  EXPECT_THAT(ids(state, {.filters = {"value!=0.5"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids(state, {.filters = {"value="}}), ElementsAre(1));
}

TEST(SelectTrials, ComparesNumbersWrittenInAnyWay) {
  EXPECT_THAT(ids(finished_study().state(), {.filters = {"lr=5e-1", "batch_size=64.0"}}),
              ElementsAre(0, 1, 2));
}

TEST(SelectTrials, FindsWhatWasStopped) {
  EXPECT_THAT(ids(stopped_study().state(), {.filters = {"state=stopped"}}), ElementsAre(1));
}

TEST(SelectTrials, RefusesAColumnThatThereIsNotAndSaysWhichWasMeant) {
  const tune::State state = finished_study().state();
  for (const Selection& wrong :
       {Selection{.filters = {"val_acuracy>0.8"}}, Selection{.sort = "-val_acuracy"}}) {
    const auto refused = select_trials(state, kColumns, wrong);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().id, "H0903");
    EXPECT_EQ(refused.error().what, "the table of trials has no column `val_acuracy`");
    EXPECT_EQ(refused.error().remedy, "did you mean `val_accuracy`?");
  }
}

TEST(SelectTrials, RefusesWhatIsNoFilter) {
  for (const char* text : {"value", "value!0.5", ""}) {
    EXPECT_EQ(select_trials(finished_study().state(), kColumns, {.filters = {text}}).error().id,
              "H0903")
        << text;
  }
}

}  // namespace
}  // namespace hydro::report
