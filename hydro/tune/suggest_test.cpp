// When configurations are asked for, and what follows when nobody answers.
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"

namespace hydro::tune {
namespace {

/// A study that is ready, two slots.
Journal ready(StudySettings settings) {
  Journal journal;
  journal.append(StudyOpened{.settings = std::move(settings), .process_start_ns = 0});
  journal.append(Prepared{});
  return journal;
}

/// How many configurations the next decision asks for; 0 when it is another one.
std::int64_t wanted(const Journal& journal) {
  const std::vector<Decision> decisions = decide(journal.state());
  const auto* suggest = decisions.empty() ? nullptr : std::get_if<Suggest>(&decisions.front());
  return suggest == nullptr ? 0 : suggest->count;
}

StudySettings lazy() {
  StudySettings settings = make_settings(10);
  settings.suggest_ahead = SuggestAhead::kNone;
  return settings;
}

TEST(Suggesting, AsksForAllAtFirstWhereNothingIsLearned) {
  EXPECT_EQ(wanted(ready(make_settings(10))), 10);
}

TEST(Suggesting, AsksALearningSearcherForOneContainerAtATime) {
  Journal journal = ready(lazy());
  EXPECT_EQ(wanted(journal), 1);
  journal.append(make_suggestion(0));
  EXPECT_EQ(wanted(journal), 0) << "it is planned first";
}

TEST(Suggesting, AsksNothingWhileTheSearcherThinks) {
  Journal journal = ready(lazy());
  journal.append(SuggestionAsked{.first = 0, .count = 1});
  EXPECT_TRUE(decide(journal.state()).empty()) << "nor does the study end";
  journal.append(make_suggestion(0));
  EXPECT_FALSE(decide(journal.state()).empty());
}

TEST(Suggesting, AFailureAnswersTheQuestion) {
  Journal journal = ready(lazy());
  journal.append(SuggestionAsked{.first = 0, .count = 1});
  journal.append(SearcherFailed{.attempt = 1, .cause = "it hangs"});
  EXPECT_EQ(wanted(journal), 1);
  EXPECT_EQ(journal.state().latency.answers, 0);
}

TEST(Suggesting, CountsTheTimeThatAnswersTook) {
  Journal journal = ready(lazy());
  for (const std::int64_t k : {0, 1}) {
    journal.append(SuggestionAsked{.first = k, .count = 1});
    journal.append(make_suggestion(k));  // a second later
  }
  EXPECT_EQ(journal.state().latency.answers, 2);
  EXPECT_EQ(journal.state().latency.total_ns, 2 * kSecond);
  EXPECT_EQ(journal.state().latency.longest_ns, kSecond);
  EXPECT_EQ(latency_text(journal.state().latency), "2 answers in 2 s, the longest 1 s");
}

TEST(Suggesting, RespectsTheLimitOnTrialsThatRun) {
  StudySettings settings = lazy();
  settings.max_concurrent_trials = 1;
  EXPECT_EQ(wanted(ready(settings)), 1);
}

TEST(Suggesting, ALazyStudyTrainsAllItsTrials) {
  World world{.settings = lazy()};
  const State state = Simulation(std::move(world)).run().state();
  EXPECT_EQ(state.counts.finished, 10);
  EXPECT_EQ(state.closed->outcome, Outcome::kFinished);
}

TEST(Suggesting, AFailedSearcherIsAskedAgainTwice) {
  Journal journal = ready(lazy());
  for (const std::int64_t attempt : {1, 2}) {
    journal.append(SearcherFailed{.attempt = attempt, .cause = "it hangs"});
    EXPECT_EQ(wanted(journal), 1) << attempt;
  }
  journal.append(SearcherFailed{.attempt = 3, .cause = "it hangs"});
  EXPECT_EQ(wanted(journal), 0);
}

TEST(Suggesting, ASuggestionForgivesEarlierFailures) {
  Journal journal = ready(lazy());
  journal.append(SearcherFailed{.attempt = 1, .cause = "it hangs"});
  journal.append(SearcherFailed{.attempt = 2, .cause = "it hangs"});
  journal.append(make_suggestion(0));
  journal.append(SearcherFailed{.attempt = 1, .cause = "it hangs"});
  EXPECT_FALSE(journal.state().lost_searcher());
}

TEST(Suggesting, ALostSearcherEndsAStudyThatHasNothingElseToDo) {
  Journal journal = ready(lazy());
  for (const std::int64_t attempt : {1, 2, 3}) {
    journal.append(SearcherFailed{.attempt = attempt, .cause = "it hangs"});
  }
  const Record end = std::get<Record>(decide(journal.state()).front());
  const StudyClosed closed = std::get<StudyClosed>(end.body);
  EXPECT_EQ(closed.outcome, Outcome::kInterrupted);
  EXPECT_EQ(closed.error, "H0723");
  EXPECT_EQ(closed.cause, "it hangs");
}

}  // namespace
}  // namespace hydro::tune
