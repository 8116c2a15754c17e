// hydro/run/searcher_protocol.h — what a searcher process is told and answers: one JSON object
// a line. Pure; docs/searchers.md is the specification.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::run {

inline constexpr int kSearcherProtocol = 1;

/// What a searcher must know before it is asked.
struct SearcherGreeting {
  std::string study;
  std::string metric;
  bool maximize = true;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  bool dedup = false;
  search::Space space = {};
  std::string sampler = {};      // of the adapter for Optuna; else empty
  std::string arguments = "{}";  // of the sampler, JSON
};

/// One thing that a searcher was asked or told, in order; what a new process repeats.
struct Asked {
  std::int64_t k = 0;
  search::Config config;
  bool given = false;  // one of the points that go first, not the searcher's own
};

using SearcherHistory = std::vector<std::variant<Asked, search::Outcome>>;

[[nodiscard]] Json hello_message(const SearcherGreeting& greeting);
/// `given`: the configuration that the searcher must take as its suggestion.
[[nodiscard]] Json ask_message(std::int64_t k, const search::Config* given);
[[nodiscard]] Json tell_message(const search::Outcome& outcome);
[[nodiscard]] Json state_message(const SearcherHistory& history);

/// An answer that is one JSON object of that type.
///
/// Errors: H0722 garbage; H0725 (H0724 where something is not installed) an answer of type
/// `error`
[[nodiscard]] Result<Json> read_answer(const std::string& line, std::string_view type);
/// The configuration in the answer to `ask`; nothing when the searcher has no more.
///
/// Errors: H0722 another id, a value outside the space, a name too many or too few; as above
[[nodiscard]] Result<std::optional<search::Config>> read_suggestion(const std::string& line,
                                                                    std::int64_t k,
                                                                    const search::Space& space);

}  // namespace hydro::run
