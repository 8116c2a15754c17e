// Orders that take trials out of containers and put them into others, from memory and from
// disk, on the same worker and on another one.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/store/waiting_states.h"
#include "hydro/train/testing.h"
#include "hydro/train/testing_states.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::train {
namespace {

using hydro::testing::TemporaryFolder;
using testing::answers;
using testing::bodies;
using testing::mlp;
using testing::recipes;
using testing::study_of;
using worker::ContainerId;
using worker::ContainerSpec;
using worker::TrialId;

/// Reports every 3 steps of 24; trials from `first`.
ContainerSpec spec_of(std::int64_t container, std::int64_t count, std::int64_t first) {
  ContainerSpec spec = testing::spec_of(recipes()[1], count, first);
  spec.id = ContainerId{container};
  spec.budget = {.steps = 24, .steps_per_epoch = 6, .evaluate_every = 3};
  return spec;
}

/// The same at a later step.
ContainerSpec waiting_at(std::int64_t step, ContainerSpec spec) {
  spec.step = step;
  return spec;
}

std::vector<worker::Report> joined(std::vector<worker::Report> all,
                                   const std::vector<worker::Report>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Bit for bit.
void expect_equal(const std::vector<worker::Report>& got,
                  const std::vector<worker::Report>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].trial, wanted[i].trial);
    EXPECT_EQ(got[i].step, wanted[i].step);
    EXPECT_EQ(got[i].epoch, wanted[i].epoch);
    EXPECT_EQ(got[i].metrics, wanted[i].metrics) << "report " << i;
  }
}

/// One study's workers and where its trials wait.
class Waiting : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  std::unique_ptr<worker::Worker> new_worker() { return make_worker(study_); }

  static void launch(worker::Worker& worker, const ContainerSpec& spec) {
    EXPECT_EQ(bodies<worker::Done>(answers(worker, worker::Launch{spec})).size(), 1U);
  }

  static std::vector<worker::Report> run(worker::Worker& worker,
                                         std::int64_t container,
                                         std::int64_t to) {
    const auto got = answers(worker, worker::Run{ContainerId{container}, to});
    EXPECT_EQ(bodies<worker::Done>(got).size(), 1U);
    return bodies<worker::Report>(got);
  }

  /// The id of the failure that answers, or "ok".
  static std::string failure(worker::Worker& worker, worker::Order order) {
    const auto failed = bodies<worker::Failed>(answers(worker, std::move(order)));
    return failed.empty() ? "ok" : failed.front().error.id;
  }

  static void extract(worker::Worker& worker, std::int64_t container, std::int64_t trial) {
    EXPECT_EQ(failure(worker, worker::Extract{ContainerId{container}, TrialId{trial}}), "ok");
  }

  std::vector<worker::Report> uninterrupted(std::int64_t trial) {
    const auto worker = new_worker();
    launch(*worker, spec_of(9, 1, trial));
    return run(*worker, 9, 24);
  }

  [[nodiscard]] std::size_t files() const {
    const auto paused = folder_ / "paused";
    return std::filesystem::exists(paused)
               ? static_cast<std::size_t>(
                     std::distance(std::filesystem::directory_iterator(paused), {}))
               : 0;
  }

  const TemporaryFolder folder_;
  std::shared_ptr<const Study> study_ = [this] {
    Study study = study_of(mlp());
    study.waiting = std::make_shared<store::WaitingStates>(folder_ / "paused", GetParam());
    return std::make_shared<const Study>(std::move(study));
  }();
};

TEST_P(Waiting, APromotedTrialEqualsItsUninterruptedSelfOnAnotherWorker) {
  const auto first = new_worker();
  launch(*first, spec_of(0, 1, 4));
  auto reports = run(*first, 0, 6);
  extract(*first, 0, 4);
  EXPECT_EQ(files(), GetParam() == 0 ? 1U : 0U);
  std::jthread([&] {
    const auto second = new_worker();
    launch(*second, waiting_at(6, spec_of(1, 1, 4)));
    reports = joined(reports, run(*second, 1, 15));
    extract(*second, 1, 4);
  }).join();
  launch(*first, waiting_at(15, spec_of(2, 1, 4)));
  reports = joined(reports, run(*first, 2, 24));
  expect_equal(reports, uninterrupted(4));
  EXPECT_EQ(files(), 0U);
}

TEST_P(Waiting, ATrialExtractedBetweenReportsKeepsItsTrainLoss) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 1, 4));
  auto reports = run(*worker, 0, 7);
  extract(*worker, 0, 4);
  launch(*worker, waiting_at(7, spec_of(1, 1, 4)));
  expect_equal(joined(reports, run(*worker, 1, 24)), uninterrupted(4));
}

TEST_P(Waiting, AnEmptiedContainerTakesATrialInAgain) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 1, 4));
  auto reports = run(*worker, 0, 6);
  extract(*worker, 0, 4);
  EXPECT_EQ(run(*worker, 0, 24).size(), 0U);
  EXPECT_EQ(failure(*worker, worker::Insert{ContainerId{0}, spec_of(0, 1, 4).trials[0]}), "ok");
  expect_equal(joined(reports, run(*worker, 0, 24)), uninterrupted(4));
}

TEST_P(Waiting, ATrialMovesBetweenStacksAndIsReportedThere) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 3, 0));
  launch(*worker, spec_of(1, 2, 3));
  static_cast<void>(run(*worker, 0, 6));
  static_cast<void>(run(*worker, 1, 6));
  extract(*worker, 0, 1);
  EXPECT_EQ(failure(*worker, worker::Insert{ContainerId{1}, spec_of(0, 3, 0).trials[1]}), "ok");
  std::vector<TrialId> reported;
  for (const std::int64_t container : {0, 1}) {
    for (const worker::Report& report : run(*worker, container, 9)) {
      EXPECT_EQ(report.step, 9);
      reported.push_back(report.trial);
    }
  }
  EXPECT_EQ(reported,
            (std::vector{TrialId{0}, TrialId{2}, TrialId{3}, TrialId{4}, TrialId{1}}));
}

TEST_P(Waiting, SurvivorsOneACoreEqualARunInWhichNothingStopped) {
  const auto worker = new_worker();
  std::vector<std::vector<worker::Report>> reports(3);
  for (std::int64_t trial = 0; trial < 3; ++trial) {
    launch(*worker, spec_of(trial, 1, trial));
    reports[static_cast<std::size_t>(trial)] = run(*worker, trial, 6);
  }
  EXPECT_EQ(failure(*worker, worker::Drop{ContainerId{1}, TrialId{1}}), "ok");
  EXPECT_EQ(failure(*worker, worker::Dissolve{ContainerId{1}}), "ok");
  extract(*worker, 2, 2);
  expect_equal(joined(reports[0], run(*worker, 0, 24)), uninterrupted(0));
  launch(*worker, waiting_at(6, spec_of(5, 1, 2)));
  expect_equal(joined(reports[2], run(*worker, 5, 24)), uninterrupted(2));
}

TEST_P(Waiting, ADiscardedTrialIsGone) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 1, 4));
  static_cast<void>(run(*worker, 0, 6));
  extract(*worker, 0, 4);
  EXPECT_EQ(failure(*worker, worker::Discard{TrialId{4}}), "ok");
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(failure(*worker, worker::Launch{waiting_at(6, spec_of(1, 1, 4))}), "H0631");
}

TEST_P(Waiting, ATrialThatWaitsAtAnotherStepIsABug) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 1, 4));
  static_cast<void>(run(*worker, 0, 6));
  extract(*worker, 0, 4);
  const worker::Order order = worker::Launch{waiting_at(9, spec_of(1, 1, 4))};
  EXPECT_THROW(static_cast<void>(answers(*worker, order)), BugError);
}

TEST_P(Waiting, AnUnknownContainerIsGoneForEveryOrder) {
  const auto worker = new_worker();
  EXPECT_EQ(failure(*worker, worker::Extract{ContainerId{7}, TrialId{0}}), "H0506");
  EXPECT_EQ(failure(*worker, worker::Insert{ContainerId{7}, spec_of(0, 1, 0).trials[0]}),
            "H0506");
}

INSTANTIATE_TEST_SUITE_P(Places,
                         Waiting,
                         ::testing::Values(0, std::uint64_t{1} << 30U),
                         [](const auto& row) {
                           return std::string(row.param == 0 ? "OnDisk" : "InMemory");
                         });

/// Everything on disk.
class WaitingOnDisk : public Waiting {};

TEST_P(WaitingOnDisk, ATornFileFailsItsTrialAndNoOther) {
  const auto worker = new_worker();
  launch(*worker, spec_of(0, 1, 4));
  launch(*worker, spec_of(1, 1, 5));
  static_cast<void>(run(*worker, 0, 6));
  auto reports = run(*worker, 1, 6);
  extract(*worker, 0, 4);
  extract(*worker, 1, 5);
  std::filesystem::resize_file(folder_ / "paused" / "trial-4.safetensors", 1000);
  EXPECT_EQ(failure(*worker, worker::Launch{waiting_at(6, spec_of(2, 1, 4))}), "H0631");
  launch(*worker, waiting_at(6, spec_of(3, 1, 5)));
  expect_equal(joined(reports, run(*worker, 3, 24)), uninterrupted(5));
}

INSTANTIATE_TEST_SUITE_P(Place, WaitingOnDisk, ::testing::Values(0), [](const auto&) {
  return std::string("OnDisk");
});

TEST(WaitingNowhere, AStudyWithoutAPlaceForItIsABug) {
  const auto worker = make_worker(std::make_shared<const Study>(study_of(mlp())));
  static_cast<void>(answers(*worker, worker::Launch{spec_of(0, 1, 0)}));
  const worker::Order order = worker::Extract{ContainerId{0}, TrialId{0}};
  EXPECT_THROW(static_cast<void>(answers(*worker, order)), BugError);
}

}  // namespace
}  // namespace hydro::train
