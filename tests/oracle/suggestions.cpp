// What our searchers suggest, for tests/oracle/search.py: parameters are indices into lists, so
// that a table of measured configurations can answer.
//   suggestions random|sobol FIRST_SEED SEEDS TRIALS SIZE...
//       a line a seed: TRIALS x (number of sizes) indices
//   suggestions optuna SEED TRIALS PYTHON PACKAGES SAMPLER min|max SIZE...
//       a line a trial: its indices; the answer on standard input is its value
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/run/external_searcher.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro {
namespace {

using Words = std::span<const std::string>;

std::int64_t number_in(const std::string& word) {
  std::int64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

std::string name_of(std::size_t parameter) {
  std::string digits = std::to_string(parameter);
  return "p" + std::string(digits.size() < 2 ? 1 : 0, '0') + digits;  // sorts by number
}

search::Space space_of(Words sizes) {
  search::Space space;
  for (const std::string& size : sizes) {
    const std::string name = name_of(space.parameters.size());
    space.parameters.push_back({.path = name,
                                .name = name,
                                .distribution = search::RandInt{0, number_in(size)},
                                .condition = {}});
  }
  return space;
}

std::string indices_of(const search::Config& config) {
  std::string line;
  for (const auto& [path, value] : config) {
    line += (line.empty() ? "" : " ") + std::to_string(std::get<std::int64_t>(value));
  }
  return line;
}

void print_sampled(Words words) {
  const std::int64_t first = number_in(words[1]);
  const std::int64_t trials = number_in(words[3]);
  const search::Space space = space_of(words.subspan(4));
  for (std::int64_t seed = first; seed < first + number_in(words[2]); ++seed) {
    const auto make =
        words[0] == "sobol" ? &search::make_sobol_searcher : &search::make_random_searcher;
    const auto searcher = make(space, static_cast<std::uint64_t>(seed), trials).value();
    for (std::int64_t k = 0; k < trials; ++k) {
      std::cout << indices_of(searcher->ask(k).value().value()) << ' ';
    }
    std::cout << '\n';
  }
}

run::ExternalSearch optuna_search(Words words) {
  return {.program = {.arguments = {words[3], "-m", "hydro.optuna_searcher"},
                      .environment = {{"PYTHONPATH", words[4]}},
                      .folder = {}},
          .greeting = {.study = "oracle",
                       .metric = "value",
                       .maximize = words[6] == "max",
                       .seed = static_cast<std::uint64_t>(number_in(words[1])),
                       .trials = number_in(words[2]),
                       .dedup = false,
                       .space = space_of(words.subspan(7)),
                       .sampler = words[5]},
          .points = {}};
}

void talk_to_optuna(Words words) {
  run::ExternalSearcher searcher(optuna_search(words), {});
  for (std::int64_t k = 0; k < searcher.total(); ++k) {
    std::cout << indices_of(searcher.ask(k).value().value()) << std::endl;
    double value = 0;
    std::cin >> value;
    searcher.tell({.k = k, .value = value, .step = 1}).value();
  }
}

}  // namespace
}  // namespace hydro

int main(int count, char** words) {
  const std::vector<std::string> all(words + 1, words + count);
  if (all.at(0) == "optuna") {
    hydro::talk_to_optuna(all);
  } else {
    hydro::print_sampled(all);
  }
  return 0;
}
