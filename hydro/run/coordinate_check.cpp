#include "hydro/run/coordinate_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

std::int64_t narrowest_dimension(const shrink::ParameterPlan& plan) {
  // Only the two width dimensions count; kernel sizes lie behind them.
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < plan.surrogate_shape.size(); ++i) {
    if (plan.surrogate_shape[i] != plan.shape[i]) {
      narrowest = std::min(narrowest, plan.surrogate_shape[i]);
    }
  }
  return narrowest;
}

std::vector<shrink::LayerPair> pairs_of(const shrink::Surrogate& narrow,
                                        const CoordinateMeasure& wide_measure,
                                        const CoordinateMeasure& narrow_measure) {
  std::vector<shrink::LayerPair> out;
  for (std::size_t i = 0; i < narrow_measure.layers.size(); ++i) {
    const LayerMeasure& low = narrow_measure.layers[i];
    const LayerMeasure& high = wide_measure.layers[i];
    const auto plan =
        std::ranges::find(narrow.parameters, low.layer, &shrink::ParameterPlan::name);
    HYDRO_CHECK(plan != narrow.parameters.end() && high.layer == low.layer, low.layer);
    out.push_back({.layer = low.layer,
                   .role = plan->role,
                   .narrow_width = narrowest_dimension(*plan),
                   .wide_update = high.update,
                   .narrow_update = low.update,
                   .wide_activation = high.activation,
                   .narrow_activation = low.activation});
  }
  return out;
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
  HYDRO_TRY(const shrink::CoordinateWidths widths,
            shrink::coordinate_widths(*architecture.model, options, band.narrowest));
  options.saving = shrink::Saving::kAny;
  options.scaling = widths.wide;
  HYDRO_TRY(const shrink::Surrogate wide, shrink::shrink(*architecture.model, options));
  options.scaling = widths.narrow;
  HYDRO_TRY(const shrink::Surrogate narrow, shrink::shrink(*architecture.model, options));
  HYDRO_TRY(const CoordinateMeasure wide_measure,
            backend.measure_coordinates(wide, data, request));
  HYDRO_TRY(const CoordinateMeasure narrow_measure,
            backend.measure_coordinates(narrow, data, request));
  using Losses = std::vector<double>;
  const bool compares = shrink::starts_at_zero(narrow);
  return shrink::judge_coordinates(pairs_of(narrow, wide_measure, narrow_measure),
                                   compares ? wide_measure.first_losses : Losses(),
                                   compares ? narrow_measure.first_losses : Losses(),
                                   band);
}

std::vector<std::string> failed_aggregates(const shrink::CoordinateVerdict& verdict) {
  std::vector<std::string> out;
  for (const std::string& name : verdict.failed) {
    if (std::ranges::find(verdict.layers, name, &shrink::JudgedLayer::layer) ==
        verdict.layers.end()) {
      out.push_back(name);
    }
  }
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
  for (const std::string& name : failed_aggregates(verdict)) {
    parts.push_back(name);
  }
  return join(parts, ", ");
}

}  // namespace hydro::run
