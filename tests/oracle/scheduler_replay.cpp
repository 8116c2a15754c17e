// Decisions of the schedulers on streams of reports, for oracles in other languages: a JSON
// object a line in, one a line out.
//
//   {"scheduler": {"kind": "asha", ...}, "trials": 3, "reports": [[trial, t, value], ...]}
//
// value "NaN" fails the trial. Reports of a trial that has ended are skipped; one that waits is
// promoted as soon as it can be. Answer: a letter a report (C goes on, S stops, P waits, E came
// to the end, F failed, . skipped), the bound it was compared with or null, and what each
// report did to waiting trials.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/event_fields.h"
#include "hydro/tune/json_fields.h"

namespace {

using hydro::Json;
using hydro::search::Fate;
using hydro::search::Move;
using hydro::search::Scheduler;
using hydro::search::SchedulerSettings;
using hydro::search::Verdict;

class Replay {
 public:
  Replay(const SchedulerSettings& settings, std::size_t trials)
      : scheduler_(settings), max_t_(settings.max_t), ended_(trials, false) {
    for (std::size_t i = 0; i < trials; ++i) {
      scheduler_.add();
    }
    scheduler_.close();
  }

  void report(std::size_t trial, std::int64_t t, double value) {
    const auto id = static_cast<std::int64_t>(trial);
    Verdict verdict;
    char letter = '.';
    if (!ended_[trial]) {
      verdict = scheduler_.report(id, t, value);
      const bool at_end = t >= max_t_ && verdict.fate != Fate::kFail;
      letter = at_end ? 'E' : "CSPF"[static_cast<std::size_t>(verdict.fate)];
      if (letter != 'C' && letter != 'P') {
        ended_[trial] = true;
        scheduler_.remove(id);
      }
    }
    letters_ += letter;
    bounds_.push_back(verdict.fate == Fate::kStop ? Json(verdict.bound) : Json(nullptr));
    moves_.push_back(make_moves());
  }

  [[nodiscard]] Json answer() const {
    return {{"fates", letters_}, {"bounds", bounds_}, {"moves", moves_}};
  }

 private:
  Json make_moves() {
    Json moves = Json::array();
    while (const std::optional<Move> move = scheduler_.next()) {
      const bool stops = move->verdict.fate == Fate::kStop;
      moves.push_back({stops ? "S" : "C", move->trial});
      scheduler_.make(*move);
      if (stops) {
        ended_[static_cast<std::size_t>(move->trial)] = true;
      }
    }
    return moves;
  }

  Scheduler scheduler_;
  std::int64_t max_t_;
  std::vector<bool> ended_;
  std::string letters_;
  Json bounds_ = Json::array();
  Json moves_ = Json::array();
};

Json replay(const Json& stream) {
  SchedulerSettings settings;
  const std::string problem = hydro::tune::json_fields::read(stream.at("scheduler"), settings);
  HYDRO_CHECK(problem.empty(), "scheduler" + problem);
  Replay replay(settings, stream.at("trials").get<std::size_t>());
  for (const Json& row : stream.at("reports")) {
    const double value = row.at(2).is_number() ? row.at(2).get<double>()
                                               : std::numeric_limits<double>::quiet_NaN();
    replay.report(row.at(0).get<std::size_t>(), row.at(1).get<std::int64_t>(), value);
  }
  return replay.answer();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << replay(Json::parse(line)).dump() << '\n';
  }
  return 0;
}
