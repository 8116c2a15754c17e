#include "hydro/run/coordinate_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/dataset.h"
#include "hydro/job/job.h"
#include "hydro/run/backend.h"
#include "hydro/run/material.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kShortSeeds = 2;
constexpr std::int64_t kFullSeeds = 6;

shrink::Band band_of(CheckForm form) {
  if (form == CheckForm::kFull) {
    return {};
  }
  constexpr double kAny = std::numeric_limits<double>::infinity();
  return {
      .layer_low = 0.33, .layer_high = 3, .mean_low = 0, .mean_high = kAny, .activation = kAny};
}

/// Medians of the space, no decay, a quarter of the median learning rate.
Result<CoordinateRequest> request_of(const job::Job& job,
                                     const data::Loader& data,
                                     CheckForm form,
                                     const std::stop_token& stop) {
  HYDRO_TRY(const job::ResolvedTrial trial, job::resolve(job, job::median_config(job)));
  CoordinateRequest request = {.settings = trial.settings,
                               .task = job.train.task,
                               .seeds = form == CheckForm::kFull ? kFullSeeds : kShortSeeds,
                               .batch_size = std::min(kBatch, data.dataset().size),
                               .stop = stop};
  request.settings.optimizer.lr /= 4;
  request.settings.optimizer.weight_decay = 0;
  request.settings.schedule = {};
  return request;
}

shrink::QueriesAndKeys queries_and_keys_of(const worker::Optimizer& optimizer) {
  return optimizer.kind == worker::OptimizerKind::kSgd ? shrink::QueriesAndKeys::kPrinted
                                                       : shrink::QueriesAndKeys::kJudged;
}

bool is_layer(const shrink::CoordinateVerdict& verdict, const shrink::Miss& miss) {
  return std::ranges::find(verdict.layers, miss.what, &shrink::JudgedLayer::layer) !=
         verdict.layers.end();
}

}  // namespace

Result<shrink::CoordinateVerdict> check_coordinates(const job::Job& job,
                                                    const Architecture& architecture,
                                                    const data::Loader& data,
                                                    const Backend& backend,
                                                    CheckForm form,
                                                    const std::stop_token& stop) {
  const shrink::Band band = band_of(form);
  HYDRO_TRY(const CoordinateRequest request, request_of(job, data, form, stop));
  HYDRO_TRY(shrink::Options options, shrink_options(job, job.tune.scaling));
  HYDRO_TRY(const shrink::CoordinatePlan plan,
            shrink::plan_coordinates(*architecture.model, options));
  options.saving = shrink::Saving::kAny;
  options.scaling = plan.wide;
  HYDRO_TRY(const shrink::Surrogate wide, shrink::shrink(*architecture.model, options));
  options.scaling = plan.narrow;
  HYDRO_TRY(const shrink::Surrogate narrow, shrink::shrink(*architecture.model, options));
  HYDRO_TRY(const shrink::CoordinateMeasure wide_measure,
            backend.measure_coordinates(wide, data, request));
  HYDRO_TRY(const shrink::CoordinateMeasure narrow_measure,
            backend.measure_coordinates(narrow, data, request));
  using Losses = std::vector<double>;
  const bool compares = shrink::starts_at_zero(narrow);
  shrink::CoordinateVerdict verdict = shrink::judge_coordinates(
      shrink::pair_layers(narrow,
                          wide_measure,
                          narrow_measure,
                          plan,
                          queries_and_keys_of(request.settings.optimizer)),
      compares ? wide_measure.first_losses : Losses(),
      compares ? narrow_measure.first_losses : Losses(),
      band);
  verdict.plan = plan;
  return verdict;
}

std::string miss_text(const shrink::Miss& miss) {
  const std::string what = fmt::format("{} x{:.3g}", miss.what, miss.value);
  return miss.low == miss.high
             ? what + " (must be equal)"
             : what + fmt::format(" (limits {:.3g} to {:.3g})", miss.low, miss.high);
}

std::vector<shrink::Miss> failed_aggregates(const shrink::CoordinateVerdict& verdict) {
  std::vector<shrink::Miss> out;
  std::ranges::copy_if(verdict.misses, std::back_inserter(out), [&](const shrink::Miss& miss) {
    return !is_layer(verdict, miss);
  });
  return out;
}

std::string failed_parts(const shrink::CoordinateVerdict& verdict) {
  std::vector<std::string> parts;
  const auto layers = std::ranges::count(verdict.layers, false, &shrink::JudgedLayer::passed);
  if (layers > 0) {
    const auto first = std::ranges::find(verdict.layers, false, &shrink::JudgedLayer::passed);
    parts.push_back(fmt::format(
        "{} of {} layers (first `{}`)", layers, verdict.layers.size(), first->layer));
  }
  for (const shrink::Miss& miss : failed_aggregates(verdict)) {
    parts.push_back(miss.what);
  }
  return join(parts, ", ");
}

std::optional<Error> refusal_of(const shrink::CoordinateVerdict& verdict) {
  if (verdict.passed) {
    return std::nullopt;
  }
  constexpr std::size_t kShown = 3;
  std::vector<std::string> reasons;
  for (const shrink::Miss& miss : verdict.misses) {
    if (reasons.size() < kShown) {
      reasons.push_back(miss_text(miss));
    }
  }
  const std::size_t more = verdict.misses.size() - reasons.size();
  return make_error("H0310", "the coordinate check failed in " + failed_parts(verdict))
      .because(fmt::format("at S = {:g} against S = {:g}: {}{}",
                           verdict.plan.narrow,
                           verdict.plan.wide,
                           join(reasons, "; "),
                           more == 0 ? "" : fmt::format("; and {} more", more)));
}

}  // namespace hydro::run
