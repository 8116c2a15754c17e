#include "hydro/tune/compact.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/space.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {
namespace {

constexpr std::size_t kStep = 0;
constexpr std::size_t kMetrics = 1;

template <class T>
Names names_of(const std::map<std::string, T>& values) {
  const auto names = std::views::keys(values);
  return {names.begin(), names.end()};
}

}  // namespace

CompactConfig::CompactConfig(const search::Config& config, Pool<Names>& names)
    : paths_(names.keep(names_of(config))) {
  const auto values = std::views::values(config);
  values_.assign(values.begin(), values.end());
}

search::Config CompactConfig::expanded() const {
  search::Config config;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    config.emplace((*paths_)[i], values_[i]);
  }
  return config;
}

std::size_t Reports::Stretch::width() const {
  return kMetrics + metrics->size();
}

const double* Reports::Stretch::row(std::size_t index) const {
  return numbers.data() + index * width();
}

std::map<std::string, double> Reports::Stretch::metrics_of(std::size_t index) const {
  std::map<std::string, double> values;
  for (std::size_t i = 0; i < metrics->size(); ++i) {
    values.emplace((*metrics)[i], row(index)[kMetrics + i]);
  }
  return values;
}

void Reports::add(const worker::Report& report, Pool<Names>& names) {
  if (stretches_.empty() ||
      !std::ranges::equal(*stretches_.back().metrics, std::views::keys(report.metrics))) {
    stretches_.push_back({.metrics = names.keep(names_of(report.metrics)), .numbers = {}});
  }
  std::vector<double>& numbers = stretches_.back().numbers;
  numbers.push_back(static_cast<double>(report.step));
  for (const auto& [name, value] : report.metrics) {
    numbers.push_back(value);
  }
  ++size_;
}

void Reports::close() {
  for (Stretch& stretch : stretches_) {
    stretch.numbers.shrink_to_fit();
  }
  stretches_.shrink_to_fit();
}

const Reports::Stretch& Reports::last_stretch() const {
  HYDRO_CHECK(!empty(), "nothing was reported");
  return stretches_.back();
}

std::int64_t Reports::last_step() const {
  const Stretch& stretch = last_stretch();
  return static_cast<std::int64_t>(stretch.row(stretch.rows() - 1)[kStep]);
}

std::map<std::string, double> Reports::last_metrics() const {
  const Stretch& stretch = last_stretch();
  return stretch.metrics_of(stretch.rows() - 1);
}

std::optional<std::string> Reports::broken_metric() const {
  const Stretch& stretch = last_stretch();
  const double* values = stretch.row(stretch.rows() - 1) + kMetrics;
  for (std::size_t i = 0; i < stretch.metrics->size(); ++i) {
    if (!std::isfinite(values[i])) {
      return (*stretch.metrics)[i];
    }
  }
  return std::nullopt;
}

std::optional<double> Reports::last(const std::string& metric) const {
  for (const Stretch& stretch : std::views::reverse(stretches_)) {
    const auto place = std::ranges::find(*stretch.metrics, metric);
    if (place != stretch.metrics->end()) {
      const auto column = static_cast<std::size_t>(place - stretch.metrics->begin());
      return stretch.row(stretch.rows() - 1)[kMetrics + column];
    }
  }
  return std::nullopt;
}

std::vector<worker::Report> Reports::expanded(worker::TrialId trial,
                                              const worker::Budget& budget) const {
  std::vector<worker::Report> reports;
  reports.reserve(size_);
  for (const Stretch& stretch : stretches_) {
    for (std::size_t i = 0; i < stretch.rows(); ++i) {
      const auto step = static_cast<std::int64_t>(stretch.row(i)[kStep]);
      reports.push_back({.trial = trial,
                         .step = step,
                         .epoch = worker::epoch_at(budget, step),
                         .metrics = stretch.metrics_of(i)});
    }
  }
  return reports;
}

}  // namespace hydro::tune
