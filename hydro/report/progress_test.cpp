#include "hydro/report/progress.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/report/testing.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

using testing::finished_study;
using testing::kColumns;
using testing::open_study;
using testing::stopped_study;

/// What a Progress of that form prints of a whole study.
std::string printed(ProgressForm form, const tune::Journal& journal) {
  std::FILE* file = std::tmpfile();
  HYDRO_CHECK(file != nullptr);
  Progress progress(form, kColumns, file);
  tune::State state;
  for (const tune::Event& event : journal.events()) {
    tune::apply(state, event);
    progress.event(state, event);
  }
  progress.finish();
  progress.finish();
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  HYDRO_CHECK(std::fseek(file, 0, SEEK_SET) == 0);
  HYDRO_CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

std::string bar_of(const tune::Journal& journal, int width = 200) {
  return bar_text(journal.state(), journal.state().last_ns, width);
}

TEST(Bar, OfAStudyThatHasReportedNothingCountsOnly) {
  EXPECT_EQ(bar_of(open_study(3)), "0/3 trials");
}

TEST(Bar, BeforeTheStudyIsOpenIsEmptyOfTrials) {
  EXPECT_EQ(bar_text({}, 0, 80), "0/0 trials");
}

TEST(Bar, CountsTheStatesOfTrialsThatMayStopEarly) {
  const std::string text = bar_of(stopped_study());
  EXPECT_EQ(text.substr(0, text.find(" · best")),
            "1/3 trials · 1 running, 1 waiting, 1 stopped (1 at rung 1)");
}

TEST(Bar, ExpectsTheTrainingThatTheRungsLeave) {
  // 4.94 of 6 evaluations are expected: 1 + 1/2 + 4/9 of three trials go on from rung 1.
  const tune::Journal journal = stopped_study();
  const double seconds =
      static_cast<double>(journal.state().last_ns - journal.state().trials.front().begin_ns) /
      static_cast<double>(tune::kSecond);
  const auto left = static_cast<std::int64_t>((4 + 17.0 / 18 - 2) / 2 * seconds);
  EXPECT_NE(bar_of(journal).find("ETA 0:" + std::to_string(left)), std::string::npos)
      << bar_of(journal);
}

TEST(Plain, SaysWhyATrialWasStopped) {
  EXPECT_NE(printed(ProgressForm::kPlain, stopped_study())
                .find("trial 1 stopped: rung 1: 0.25 under the cut-off 0.5, 1 value [1/3]\n"),
            std::string::npos);
}

TEST(Plain, SaysThatATrialWaitsAndGoesOn) {
  const tune::Journal journal = stopped_study();
  const auto line = [&journal](tune::EventBody body) {
    return plain_text(
        journal.state(), {.seq = 1, .reason = {}, .body = std::move(body)}, kColumns);
  };
  const worker::TrialId trial{2};
  EXPECT_EQ(line(tune::TrialPaused{.trial = trial, .cause = "why"}), "trial 2 paused: why\n");
  EXPECT_EQ(line(tune::TrialPromoted{.trial = trial, .cause = "why"}),
            "trial 2 promoted: why\n");
}

TEST(Bar, ShowsTheBestTheRateAndWhatIsLeft) {
  tune::Journal journal = open_study(3);
  testing::train(journal, 0, 0.5);
  // 100 of 300 steps of 64 samples in 6 s, an event each since the launch.
  EXPECT_EQ(bar_of(journal),
            "1/3 trials · best val_accuracy 0.5 (trial 0) · 1.1k samples/s · ETA 0:12");
}

TEST(Bar, OfATargetCountsItsOwnTrainingFromItsOwnStart) {
  tune::Journal journal = testing::searched_study();
  while (journal.state().targets.empty()) {
    testing::finish_oldest(journal);
  }
  EXPECT_EQ(bar_of(journal), "target · 3/3 trials · best val_accuracy 0.75 (trial 2)");
  testing::finish_oldest(journal);  // the launch
  journal.append(tune::Reported{
      .command = testing::oldest(journal),
      .report = {.trial = worker::TrialId{2}, .step = 50, .epoch = 0.5, .metrics = {}}});
  EXPECT_EQ(
      bar_of(journal),
      "target · 3/3 trials · best val_accuracy 0.75 (trial 2) · 3.2k samples/s · ETA 0:01");
}

TEST(Bar, IsCutToItsWidthInCharacters) {
  tune::Journal journal = open_study(3);
  testing::train(journal, 0, 0.5);
  EXPECT_EQ(bar_of(journal, 12), "1/3 trials ·");
  EXPECT_EQ(bar_of(journal, 4), "1/3 ");
  EXPECT_EQ(bar_of(journal, 0), "");
}

TEST(Plain, SaysEachThingOnce) {
  EXPECT_EQ(
      printed(ProgressForm::kPlain, finished_study()),
      "study fashion: 3 trials, metric val_accuracy\n"
      "planned 3 containers on 1 slot\n"
      "trial 0 finished: train_loss 1.5, val_accuracy 0.5 (lr 0.5, batch_size 64) [1/3]\n"
      "trial 1 failed: the loss is not finite [2/3]\n"
      "trial 2 finished: train_loss 1.5, val_accuracy 0.75 (lr 0.5, batch_size 64) [3/3]\n"
      "target: trial 2 at full width (lr 0.5, batch_size 64)\n"
      "target: epoch 1 train_loss 1.5, val_accuracy 0.875\n");
}

TEST(Plain, AtScalingOneTheTrialItselfIsDelivered) {
  tune::Journal journal = open_study(1, 1);
  testing::train(journal, 0, 0.5);
  const std::string text = printed(ProgressForm::kPlain, journal);
  EXPECT_NE(text.find("delivering trial 0 (lr 0.5, batch_size 64)\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("full width"), std::string::npos) << text;
}

TEST(Plain, ALostContainerIsTold) {
  tune::Journal journal = open_study(1);
  journal.append(tune::CommandFailed{.command = testing::oldest(journal),
                                     .error = make_error("H0502", "no memory for 3 GB")});
  testing::settle(journal);
  const std::string text = printed(ProgressForm::kPlain, journal);
  EXPECT_NE(text.find("a container failed: no memory for 3 GB [1/1]\n"), std::string::npos)
      << text;
}

TEST(Plain, TellsOfAStop) {
  const std::string text = printed(ProgressForm::kPlain, testing::interrupted_study());
  EXPECT_TRUE(text.ends_with("stopping at the next step\n")) << text;
}

TEST(JsonLines, AreOneObjectAnEvent) {
  const tune::Journal journal = finished_study();
  std::istringstream lines(printed(ProgressForm::kJson, journal));
  std::string line;
  std::int64_t count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(Json::parse(line)["seq"], ++count);
  }
  EXPECT_EQ(count, journal.state().last_seq);
}

TEST(JsonLines, NumbersThatAreNotFiniteAreStrings) {
  const tune::Event event = {
      .seq = 1,
      .reason = {},
      .body = tune::Reported{.command = {}, .report = testing::make_report(0, tune::kNan, 1)}};
  const Json json = Json::parse(json_text(event));
  EXPECT_EQ(json["body"]["report"]["metrics"]["val_accuracy"], "NaN");
}

TEST(Bar, IsRedrawnOnOneLineThatEndsOnce) {
  const std::string text = printed(ProgressForm::kBar, finished_study());
  EXPECT_TRUE(text.starts_with("\r\x1b[K0/3 trials"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(Nothing, IsPrinted) {
  EXPECT_EQ(printed(ProgressForm::kNone, finished_study()), "");
}

TEST(DefaultForm, IsPlainWhereThereIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(default_form(file), ProgressForm::kPlain);
  std::fclose(file);
}

}  // namespace
}  // namespace hydro::report
