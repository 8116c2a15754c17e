// Scenarios as text, tests/golden/tune/*.txt: a line at the margin is what happens, the
// indented lines under it are what the study decides. Records and commands are carried out at
// once, each followed by a new decision, so a line's block holds all that follows from it.
// HYDRO_UPDATE_GOLDEN=1 rewrites the files.
//
//   open [WORD...] KEY=NUMBER...   keys: slots trials fusion scaling target_threads
//                             max_concurrent mode_min retry eta max_t grace brackets samples
//                             lazy above (a stop rule on the metric); words: a scheduler, a
//                             type
//   prepared | exhausted | stop | lost | summary
//   suggest COUNT batch=N evaluations=N   that many trials, ten steps an evaluation
//   train COMMAND T=V...      a report for each trial T (V: nan diverges, inf is reported),
//                             then the run is done
//   done COMMAND | failed COMMAND | stopped COMMAND step=N
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/stop_rules.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/event_fields.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::CommandId;
using worker::TrialId;

template <class Id>
std::string number(Id id) {
  return std::to_string(static_cast<std::int64_t>(id));
}

std::string list(const std::vector<TrialId>& trials) {
  std::string text;
  for (const TrialId id : trials) {
    text += (text.empty() ? "" : " ") + number(id);
  }
  return "{" + text + "}";
}

std::string describe(const worker::Order& order) {
  return std::visit(
      [](const auto& body) -> std::string {
        using Body = std::remove_cvref_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, worker::Launch>) {
          std::vector<TrialId> trials;
          std::ranges::transform(
              body.spec.trials, std::back_inserter(trials), &worker::TrialSpec::id);
          return "launch container " + number(body.spec.id) + " " + list(trials) + ", model " +
                 body.spec.model + ", batch " + std::to_string(body.spec.batch_size) +
                 (body.spec.step > 0 ? ", from step " + std::to_string(body.spec.step) : "") +
                 ", threads " + std::to_string(body.threads);
        } else if constexpr (std::is_same_v<Body, worker::Run>) {
          return "run container " + number(body.container) + " to " + std::to_string(body.to) +
                 ", threads " + std::to_string(body.threads);
        } else if constexpr (std::is_same_v<Body, worker::Drop>) {
          return "drop trial " + number(body.trial) + " of container " + number(body.container);
        } else if constexpr (std::is_same_v<Body, worker::Extract>) {
          return "extract trial " + number(body.trial) + " of container " +
                 number(body.container);
        } else if constexpr (std::is_same_v<Body, worker::Insert>) {
          return "insert trial " + number(body.trial.id) + " into container " +
                 number(body.container);
        } else if constexpr (std::is_same_v<Body, worker::Discard>) {
          return "discard trial " + number(body.trial);
        } else if constexpr (std::is_same_v<Body, worker::Dissolve>) {
          return "dissolve container " + number(body.container);
        } else {
          return "export trial " + number(body.trial) + " of container " +
                 number(body.container) + " to " + body.path;
        }
      },
      order);
}

std::string describe(const EventBody& event) {
  const std::string type(event_type(event));
  if (const auto* planned = std::get_if<ContainersPlanned>(&event)) {
    std::string text = type;
    for (const PlannedContainer& container : planned->containers) {
      text += " " + number(container.id) + list(container.trials);
    }
    return text;
  }
  return type + " " + body_to_json(event).dump();
}

std::string describe(const Decision& decision, const State& state) {
  if (const auto* suggest = std::get_if<Suggest>(&decision)) {
    return "suggest " + std::to_string(suggest->count) + " from " +
           std::to_string(suggest->first);
  }
  if (const auto* record = std::get_if<Record>(&decision)) {
    return "record " + describe(record->body);
  }
  const auto& issue = std::get<Issue>(decision);
  return "command " + std::to_string(state.commands) + " on slot " + number(issue.slot) + ": " +
         describe(issue.order);
}

std::string describe(const std::optional<double>& value) {
  return value ? plain_number(*value) : "none";
}

std::string describe(const Summary& summary) {
  std::string text =
      "  state " + summary.state + ": " + std::to_string(summary.counts.finished) +
      " finished, " +
      (summary.counts.stopped > 0 ? std::to_string(summary.counts.stopped) + " stopped, "
                                  : "") +
      std::to_string(summary.counts.failed) + " failed of " +
      std::to_string(summary.counts.total) + "\n";
  if (summary.best) {
    text += "  best trial " + number(summary.best->id) + " value " +
            describe(summary.best->value) + "\n";
  }
  for (const TargetRow& row : summary.targets) {
    text += "  target of trial " + number(row.trial) + " " +
            std::string(target_status_name(row.status)) + " value " + describe(row.value) +
            (row.reason.empty() ? "" : ": " + row.reason) + "\n";
  }
  if (summary.target) {
    text += "  delivered trial " + number(summary.target->trial) + "\n";
  }
  for (const FailureCause& failure : summary.failures) {
    text += "  failed " + std::to_string(failure.count) + " x " + failure.cause +
            ", first trial " + number(failure.first) + "\n";
  }
  return text;
}

/// The words of a line: bare ones in order, KEY=VALUE ones apart.
struct Line {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> pairs;

  explicit Line(const std::string& text) {
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        words.push_back(word);
      } else {
        pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
      }
    }
  }

  [[nodiscard]] std::int64_t pair(std::string_view key, std::int64_t otherwise) const {
    const auto found =
        std::ranges::find(pairs, key, &std::pair<std::string, std::string>::first);
    return found == pairs.end() ? otherwise : std::stoll(found->second);
  }

  [[nodiscard]] std::int64_t count() const { return std::stoll(words.at(1)); }

  [[nodiscard]] CommandId command() const { return CommandId{count()}; }
};

class Player {
 public:
  std::string play(const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("  ")) {
        continue;
      }
      out_ += line + "\n";
      if (!line.empty() && !line.starts_with("#")) {
        play_line(Line(line));
      }
    }
    return std::move(out_);
  }

 private:
  void play_line(const Line& line) {
    using Handler = void (Player::*)(const Line&);
    static const std::map<std::string, Handler> kHandlers = {{"open", &Player::open},
                                                             {"prepared", &Player::prepared},
                                                             {"suggest", &Player::suggest},
                                                             {"train", &Player::train},
                                                             {"done", &Player::done},
                                                             {"stopped", &Player::stopped},
                                                             {"failed", &Player::failed},
                                                             {"lost", &Player::lost},
                                                             {"stop", &Player::stop},
                                                             {"exhausted", &Player::ended},
                                                             {"summary", &Player::summary}};
    (this->*kHandlers.at(line.words.at(0)))(line);
  }

  /// Appends, then carries out all that follows.
  void happen(EventBody body) {
    journal_.append(std::move(body));
    while (true) {
      const std::vector<Decision> decisions = decide(journal_.state());
      if (decisions.empty()) {
        return;
      }
      out_ += "  " + describe(decisions.front(), journal_.state()) + "\n";
      if (std::holds_alternative<Suggest>(decisions.front())) {
        return;
      }
      journal_.carry_out(decisions.front());
    }
  }

  static search::SchedulerSettings scheduler_of(const Line& line) {
    search::SchedulerSettings settings;
    for (const std::string& word : line.words) {
      settings.kind = EnumText<search::SchedulerKind>::find(word).value_or(settings.kind);
      settings.type = EnumText<search::SchedulerType>::find(word).value_or(settings.type);
    }
    settings.reduction_factor = line.pair("eta", 3);
    settings.max_t = line.pair("max_t", 9);
    settings.grace_period = line.pair("grace", 1);
    settings.brackets = line.pair("brackets", 1);
    settings.min_samples = line.pair("samples", 3);
    return settings;
  }

  void open(const Line& line) {
    StudySettings settings = make_settings(line.pair("trials", 0), line.pair("slots", 2));
    settings.fusion = line.pair("fusion", 1);
    settings.scaling = static_cast<double>(line.pair("scaling", 8));
    settings.target_threads = static_cast<int>(line.pair("target_threads", 2));
    settings.retry_worse_target = line.pair("retry", 1) == 1;
    settings.mode = line.pair("mode_min", 0) == 1 ? Mode::kMin : Mode::kMax;
    settings.scheduler = scheduler_of(line);
    settings.suggest_ahead =
        line.pair("lazy", 0) == 1 ? SuggestAhead::kNone : SuggestAhead::kAll;
    if (const std::int64_t bound = line.pair("above", 0); bound > 0) {
      settings.stop = {.kind = search::StopKind::kAbove,
                       .metric = settings.metric,
                       .bound = static_cast<double>(bound),
                       .rules = {}};
    }
    if (const std::int64_t limit = line.pair("max_concurrent", 0); limit > 0) {
      settings.max_concurrent_trials = limit;
    }
    happen(StudyOpened{.settings = settings, .process_start_ns = 0});
  }

  void prepared(const Line& /*line*/) { happen(Prepared{}); }

  void suggest(const Line& line) {
    for (std::int64_t i = 0; i < line.count(); ++i) {
      TrialSuggested suggestion = make_suggestion(
          static_cast<std::int64_t>(journal_.state().trials.size()), line.pair("batch", 64));
      if (const std::int64_t evaluations = line.pair("evaluations", 0); evaluations > 0) {
        suggestion.budget = {
            .steps = 10 * evaluations, .steps_per_epoch = 10, .evaluate_every = 10};
      }
      happen(suggestion);
    }
  }

  void train(const Line& line) {
    const std::int64_t step = journal_.state().pending.at(line.command()).order.to;
    for (const auto& [trial, value] : line.pairs) {
      const TrialId id{std::stoll(trial)};
      if (value == "nan") {
        happen(TrialDiverged{.command = line.command(),
                             .trial = id,
                             .step = step,
                             .cause = "the loss is not finite"});
      } else {
        happen(Reported{
            .command = line.command(),
            .report = {.trial = id,
                       .step = step,
                       .epoch = 1,
                       .metrics = {{journal_.state().study().metric, std::stod(value)}}}});
      }
    }
    happen(CommandDone{.command = line.command(), .step = step});
  }

  void done(const Line& line) {
    const std::int64_t step = journal_.state().pending.at(line.command()).order.to;
    happen(CommandDone{.command = line.command(), .step = step});
  }

  void stopped(const Line& line) {
    happen(CommandStopped{.command = line.command(), .step = line.pair("step", 0)});
  }

  void failed(const Line& line) {
    happen(CommandFailed{.command = line.command(),
                         .error = make_error("H0603", "no space left on device")});
  }

  void lost(const Line& /*line*/) {
    for (const CommandLost& command : lost_commands(journal_.state())) {
      journal_.append(command);
    }
  }

  void ended(const Line& /*line*/) { happen(SuggestionsExhausted{}); }

  void stop(const Line& /*line*/) { happen(StopRequested{}); }

  void summary(const Line& /*line*/) {
    out_ += describe(summarize(journal_.state()));
    if (const auto error = study_error(journal_.state())) {
      out_ += "  " + error->id + " " + error->what +
              (error->why.empty() ? "" : " (" + error->why + ")") + "\n";
    }
  }

  Journal journal_;
  std::string out_;
};

std::string read_all(const std::filesystem::path& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(HYDRO_SOURCE_DIR "/tests/golden/tune")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class Scenario : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenario, DecidesAsItsFileSays) {
  const std::string expected = read_all(GetParam());
  const std::string played = Player().play(expected);
  if (std::getenv("HYDRO_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GetParam()) << played;
  }
  EXPECT_EQ(played, expected) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Golden,
                         Scenario,
                         testing::ValuesIn(scenario_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace hydro::tune
