#include "hydro/data/masking.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {
namespace {

/// The draws of one place: its rank among the places, what becomes of it, and another token.
struct Draw {
  std::size_t place = 0;
  PhiloxBlock words = {};
};

std::vector<Draw> draws_of(std::uint64_t key, std::int64_t sample, std::size_t count) {
  const auto number = static_cast<std::uint64_t>(sample);
  std::vector<Draw> draws(count);
  for (std::size_t place = 0; place < count; ++place) {
    draws[place] = {.place = place,
                    .words = philox(key,
                                    {static_cast<std::uint32_t>(place),
                                     static_cast<std::uint32_t>(number),
                                     static_cast<std::uint32_t>(number >> 32U),
                                     0})};
  }
  return draws;
}

std::int64_t shown(const Masking& masking, const PhiloxBlock& words, std::int64_t token) {
  constexpr double kHidden = 0.8;
  constexpr double kHiddenOrReplaced = 0.9;
  const double fate = unit_single(words[1]);
  if (fate < kHidden) {
    return masking.token;
  }
  if (fate < kHiddenOrReplaced) {
    const auto other =
        (std::uint64_t{words[2]} * static_cast<std::uint64_t>(masking.vocabulary));
    return static_cast<std::int64_t>(other >> 32U);
  }
  return token;
}

}  // namespace

std::uint64_t masking_key(std::uint64_t seed, Use use, std::int64_t epoch) {
  return stream_key(
      seed, use == Use::kTraining ? "epoch " + std::to_string(epoch) : "evaluation", "mask");
}

std::int64_t chosen_count(double share, std::int64_t tokens) {
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(tokens)));
}

void hide_tokens(const Masking& masking,
                 std::uint64_t key,
                 std::int64_t sample,
                 std::span<std::int64_t> tokens,
                 std::span<std::int64_t> labels) {
  HYDRO_CHECK(!tokens.empty() && tokens.size() == labels.size());
  std::vector<Draw> draws = draws_of(key, sample, tokens.size());
  std::ranges::stable_sort(draws, {}, [](const Draw& draw) { return draw.words[0]; });
  draws.resize(static_cast<std::size_t>(
      chosen_count(masking.share, static_cast<std::int64_t>(tokens.size()))));
  std::ranges::fill(labels, kNoLabel);
  for (const Draw& draw : draws) {
    std::int64_t& token = tokens[draw.place];
    labels[draw.place] = token;
    token = shown(masking, draw.words, token);
  }
}

}  // namespace hydro::data
