#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/study.h"
#include "hydro/store/study_db.h"
#include "hydro/store/study_folder.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"

namespace hydro::run {
namespace {

/// The process died: what it had begun has no answer and never will.
void end_dead_study(tune::State& state) {
  const auto fold = [&state](tune::EventBody body) {
    tune::apply(state,
                {.seq = state.last_seq + 1,
                 .mono_ns = state.last_ns,
                 .reason = {},
                 .body = std::move(body)});
  };
  for (const tune::CommandLost& lost : tune::lost_commands(state)) {
    fold(lost);
  }
  fold(tune::StudyClosed{
      .outcome = tune::Outcome::kInterrupted, .error = "H0642", .cause = "its process died"});
}

/// A study that was opened had its job and its archive.
std::vector<std::string> lost_files(const StoredStudy& study,
                                    const std::filesystem::path& folder) {
  std::vector<std::string> expected = {"model.pt2"};
  if (study.state.delivered() != nullptr) {
    expected.emplace_back("best/model.safetensors");
  }
  std::erase_if(expected, [&folder](const std::string& name) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(folder / name, unknown);
  });
  return expected;
}

}  // namespace

Result<StoredStudy> read_study(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "study.db";
  HYDRO_TRY(const std::vector<store::StoredEvent> events, store::read_events(file));
  StoredStudy out;
  for (const store::StoredEvent& stored : events) {
    const std::string place = "event " + std::to_string(stored.seq) + " of " + file.string();
    HYDRO_TRY(const Json json, parse_json(stored.event.body, "H0644", place));
    HYDRO_TRY(const tune::Event event, tune::event_from_json(json));
    if (event.seq != stored.seq) {
      return make_error("H0644", "an event says that it is number " + std::to_string(event.seq))
          .at(place);
    }
    tune::apply(out.state, event);
  }
  if (!out.state.settings.has_value()) {
    return make_error("H0617",
                      "the study in `" + folder.string() +
                          "` was never opened: its process died before that");
  }
  if (!out.state.closed.has_value() && !store::is_in_use(folder)) {
    end_dead_study(out.state);
  }
  out.lost = lost_files(out, folder);
  if (const Result<job::Job> job = job::load_job(folder / "job.yaml"); job.has_value()) {
    out.parameters = job->space.parameters;
  } else {
    out.lost.insert(out.lost.begin(), "job.yaml");
  }
  return out;
}

}  // namespace hydro::run
