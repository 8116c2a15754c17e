
#include <gtest/gtest.h>

#include "hydro/report/results.h"
#include "hydro/report/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

using testing::finished_study;
using testing::kColumns;
using testing::stopped_study;

TEST(TrialStory, TellsReportsEndAndTarget) {
  EXPECT_EQ(trial_story(finished_study().state(), worker::TrialId{2}, kColumns),
            "trial 2 of fashion\n  lr 0.5, batch_size 64\n"
            "  epoch 1      step 100     train_loss 1.5, val_accuracy 0.75\n"
            "  finished\n  at full width: finished, val_accuracy 0.875, delivered\n");
}

TEST(TrialStory, SaysWhyATrialFailedOrWasStopped) {
  EXPECT_EQ(trial_story(finished_study().state(), worker::TrialId{1}, kColumns),
            "trial 1 of fashion\n  lr 0.5, batch_size 64\n  failed: the loss is not finite\n");
  EXPECT_EQ(trial_story(stopped_study().state(), worker::TrialId{1}, kColumns),
            "trial 1 of fashion\n  lr 0.5, batch_size 64\n"
            "  epoch 0.5    step 50      train_loss 1.5, val_accuracy 0.25\n"
            "  stopped: rung 1: 0.25 under the cut-off 0.5, 1 value\n");
}

TEST(TrialStory, SaysWhatAWaitingTrialWaitsFor) {
  EXPECT_EQ(trial_story(testing::open_study(3).state(), worker::TrialId{2}, kColumns),
            "trial 2 of fashion\n  lr 0.5, batch_size 64\n  waits for a free core or device, "
            "number 2 in line\n");
}

}  // namespace
}  // namespace hydro::report
