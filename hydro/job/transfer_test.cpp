#include "hydro/job/transfer.h"

#include <string>

#include <gtest/gtest.h>

#include "hydro/job/job.h"
#include "hydro/job/testing.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

TransferKind kind_of(const std::string& path) {
  return transfer_of(path, worker::OptimizerKind::kSgd).kind;
}

TEST(Transfer, RatesSchedulesMomentumAndBatchSizeTransfer) {
  for (const char* path : {"train.optimizer.lr",
                           "train.optimizer.momentum",
                           "train.optimizer.betas.0",
                           "train.batch_size",
                           "train.schedule.gamma",
                           "train.schedule.warmup"}) {
    EXPECT_EQ(kind_of(path), TransferKind::kTransfers) << path;
  }
}

TEST(Transfer, WhatIsScaledTransfersWithARule) {
  for (const char* path :
       {"train.optimizer.eps", "train.clip_norm", "train.optimizer", "model.kwargs.depth"}) {
    EXPECT_EQ(kind_of(path), TransferKind::kByRule) << path;
  }
}

TEST(Transfer, RegularisationIsForTheTargetOnly) {
  for (const char* path : {"train.label_smoothing",
                           "train.optimizer.weight_decay",
                           "model.kwargs.dropout",
                           "model.kwargs.config.kwargs.resid_pdrop"}) {
    EXPECT_EQ(kind_of(path), TransferKind::kTargetOnly) << path;
  }
}

TEST(Transfer, DecayIsJudgedWithTheOptimizerOfItsBranch) {
  testing::JobText text;
  text.train =
      "train:\n  task: classification\n  epochs: 2\n  batch_size: 64\n  optimizer:\n"
      "    choice:\n"
      "    - {name: sgd, weight_decay: {uniform: [0, 1]}}\n"
      "    - {name: adamw, weight_decay: {uniform: [0, 1]}}\n";
  text.tune = "tune: {scaling: 1}\n";
  const Job job = testing::good(text.text());
  ASSERT_EQ(job.space.parameters.size(), 3U);
  EXPECT_EQ(transfer_of(job, job.space.parameters[1]).kind, TransferKind::kTargetOnly);
  EXPECT_EQ(transfer_of(job, job.space.parameters[2]).kind, TransferKind::kByRule);
}

}  // namespace
}  // namespace hydro::job
