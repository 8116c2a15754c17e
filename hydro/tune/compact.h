// hydro/tune/compact.h — what a study keeps of every trial, however many there are: names and
// what trials have in common are held once, numbers lie in one piece of memory a trial.
// Thread-safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/search/space.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {

/// Equal values kept once. Whoever was given one holds it together with the pool and with the
/// others who were given it, so that a copy of a study is whole.
template <class T>
class Pool {
 public:
  using Shared = std::shared_ptr<const T>;

  Shared keep(T value) {
    const auto found = kept_.find(value);
    if (found != kept_.end()) {
      return found->second;
    }
    Shared shared = std::make_shared<const T>(value);
    kept_.emplace(std::move(value), shared);
    return shared;
  }

 private:
  std::map<T, Shared> kept_;
};

using Names = std::vector<std::string>;

/// A configuration whose paths are held once for all trials that have the same.
class CompactConfig {
 public:
  CompactConfig() = default;
  CompactConfig(const search::Config& config, Pool<Names>& names);

  [[nodiscard]] search::Config expanded() const;

 private:
  Pool<Names>::Shared paths_;
  std::vector<search::Value> values_;
};

/// The reports of one training, in their order.
class Reports {
 public:
  void add(const worker::Report& report, Pool<Names>& names);
  /// No more will come.
  void close();

  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Of the last one. Requires: not empty (BugError); the same for the next
  [[nodiscard]] std::int64_t last_step() const;
  [[nodiscard]] std::map<std::string, double> last_metrics() const;
  /// A metric of the last one that is not finite.
  [[nodiscard]] std::optional<std::string> broken_metric() const;
  /// The metric in the last report that has it.
  [[nodiscard]] std::optional<double> last(const std::string& metric) const;
  /// All, as they came from a trial with that budget.
  [[nodiscard]] std::vector<worker::Report> expanded(worker::TrialId trial,
                                                     const worker::Budget& budget) const;

 private:
  /// Reports with the same metrics that follow each other: a row each, of the step and the
  /// metrics; the epoch follows from the step. (A double holds every step below 2^53.)
  struct Stretch {
    Pool<Names>::Shared metrics;
    std::vector<double> numbers;

    [[nodiscard]] std::size_t width() const;

    [[nodiscard]] std::size_t rows() const { return numbers.size() / width(); }

    [[nodiscard]] const double* row(std::size_t index) const;
    [[nodiscard]] std::map<std::string, double> metrics_of(std::size_t index) const;
  };

  [[nodiscard]] const Stretch& last_stretch() const;

  std::vector<Stretch> stretches_;
  std::size_t size_ = 0;
};

}  // namespace hydro::tune
