// Does a learning rate found on a surrogate hold at full width? Trains an exported model at
// S = 1 and smaller over a grid of learning rates, with the right table and wrong ones, and
// prints the loss curves and how far they lie apart, as Markdown.
//   transfer_bench mlp|gpt|resnet ARCHIVE.pt2 FIRST_SEED [TEXT]
// A row is printed when its curve is done, each loss to stderr at once. One thread.
// bench/transfer.py makes the archives and writes docs/transfer.md.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/pt2/archive.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

#include "bench/transfer_cases.h"
#include "bench/transfer_curve.h"

namespace {

using namespace hydro;         // NOLINT(google-build-using-namespace): a program of one file
using namespace hydro::bench;  // NOLINT(google-build-using-namespace): a program of one file

shrink::Surrogate table_of(const ir::Model& model, const Rule& rule) {
  shrink::Surrogate surrogate = shrink::shrink(model,
                                               {.scaling = rule.scaling,
                                                .parametrization = rule.parametrization,
                                                .saving = shrink::Saving::kAny})
                                    .value();
  if (rule.edit) {
    rule.edit(surrogate);
  }
  return surrogate;
}

worker::ContainerSpec spec_of(const Case& one,
                              const Setting& setting,
                              double lr,
                              std::uint64_t seed) {
  const std::int64_t epoch = one.training->dataset().size / one.batch;
  worker::ContainerSpec spec{
      .id = worker::ContainerId{1},
      .model = "model",
      .batch_size = one.batch,
      .budget = {.steps = one.steps, .steps_per_epoch = epoch, .evaluate_every = one.steps},
      .study_seed = seed,
      .data_seed = seed,
      .trials = {}};
  worker::TrialSpec& trial = spec.trials.emplace_back();
  trial.id = worker::TrialId{0};
  trial.settings.optimizer = setting.optimizer;
  trial.settings.optimizer.lr = lr;
  trial.settings.schedule = setting.schedule;
  return spec;
}

/// Loss on the held-out data after training; infinite where it diverged.
double loss_after(const std::shared_ptr<const train::Study>& study,
                  const worker::ContainerSpec& spec) {
  double loss = std::numeric_limits<double>::infinity();
  const auto one = train::make_worker(study);
  const auto run = [&](worker::Order order) {
    one->carry_out({worker::CommandId{1}, std::move(order)},
                   std::stop_token(),
                   [&](const worker::Answer& answer) {
                     if (const auto* report = std::get_if<worker::Report>(&answer.body)) {
                       loss = report->metrics.at("val_loss");
                     }
                   });
  };
  run(worker::Launch{spec, 1});
  run(worker::Run{spec.id, spec.budget.steps, 1});
  return loss;
}

class Comparison {
 public:
  Comparison(const Case& one, const ir::Model& model, std::uint64_t first_seed)
      : case_(one), model_(model), first_seed_(first_seed) {}

  void run(const Setting& setting) const {
    print_head(setting);
    const Rule target{.name = "target"};
    const Curve whole = curve_of(target, setting);
    print_row(target, whole, whole);
    for (const Rule& rule : setting.rules) {
      print_row(rule, curve_of(rule, setting), whole);
    }
  }

 private:
  /// Mean over seeds.
  Curve curve_of(const Rule& rule, const Setting& setting) const {
    train::Study study;
    study.task = case_.task;
    study.training = case_.training;
    study.validation = case_.validation;
    study.models["model"] = std::make_shared<const shrink::Surrogate>(table_of(model_, rule));
    const auto shared = std::make_shared<const train::Study>(std::move(study));
    Curve curve(case_.rates);
    for (std::size_t i = 0; i < case_.rates; ++i) {
      for (std::uint64_t seed = first_seed_; seed < first_seed_ + case_.seeds; ++seed) {
        const double lr = case_.rate(setting, i);
        const double loss = loss_after(shared, spec_of(case_, setting, lr, seed));
        std::fprintf(stderr,
                     "%s S=%g lr %.3g seed %llu: %.4f\n",
                     rule.name.c_str(),
                     rule.scaling,
                     lr,
                     static_cast<unsigned long long>(seed),
                     loss);
        curve.at(i) += loss / static_cast<double>(case_.seeds);
      }
    }
    return curve;
  }

  void print_head(const Setting& setting) const {
    const bool by_distance = case_.witness == Witness::kDistance;
    std::printf("\n%s, seeds %llu to %llu\n\n| rule | S |",
                setting.name.c_str(),
                static_cast<unsigned long long>(first_seed_),
                static_cast<unsigned long long>(first_seed_ + case_.seeds - 1));
    for (std::size_t i = 0; i < case_.rates; ++i) {
      std::printf(" %.3g |", case_.rate(setting, i));
    }
    std::printf(" best | %s |\n|---|---|---|---|",
                by_distance ? "distance | to the best" : "valley moves");
    for (std::size_t i = 0; i < case_.rates + (by_distance ? 1 : 0); ++i) {
      std::printf("---|");
    }
    std::puts("");
    std::fflush(stdout);
  }

  void print_row(const Rule& rule, const Curve& curve, const Curve& whole) const {
    std::printf("| %s | %g |", rule.name.c_str(), rule.scaling);
    for (const double loss : curve) {
      std::printf(" %.4f |", loss);
    }
    std::printf(" %zu |", best_of(curve));
    if (case_.witness == Witness::kDistance) {
      std::printf(" %.3f | %.3f |\n",
                  distance(whole, curve, bottom_of(whole)),
                  distance(whole, curve, best_of(whole)));
    } else {
      const Valley own = valley_of(curve, case_.grid);
      std::printf(" %+.2f%s |\n",
                  own.middle - valley_of(whole, case_.grid).middle,
                  own.open ? ", open" : "");
    }
    std::fflush(stdout);
  }

  const Case& case_;
  const ir::Model& model_;
  std::uint64_t first_seed_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Case> found =
      argc < 4 ? std::nullopt : find_case(argv[1], argc > 4 ? argv[4] : "");
  if (!found) {
    std::puts("usage: transfer_bench mlp|gpt|resnet ARCHIVE.pt2 FIRST_SEED [TEXT]");
    return 2;
  }
  train::prepare_process();
  const Result<pt2::Archive> archive = pt2::read_archive(argv[2], {});
  if (!archive) {
    std::puts(archive.error().what.c_str());
    return 2;
  }
  const Comparison comparison(
      *found, archive->model, static_cast<std::uint64_t>(std::atoll(argv[3])));
  for (const Setting& setting : found->settings) {
    comparison.run(setting);
  }
  return 0;
}
