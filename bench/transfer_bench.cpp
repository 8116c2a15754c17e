// Does a learning rate found on a surrogate hold at full width? Trains an exported MLP on
// Fashion-MNIST at S = 1, 2 and 4 over eight learning rates, with the right table and wrong
// ones, and prints the loss curves and their largest distance below the optimum, as Markdown.
//   transfer_bench ARCHIVE.pt2 FIRST_SEED
// One thread. bench/transfer.py makes the archive and writes docs/transfer.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/model.h"
#include "hydro/pt2/archive.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

#include "tests/chain/wrong_tables.h"

namespace {

using namespace hydro;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSteps = 200;
constexpr std::uint64_t kSeeds = 3;
constexpr std::size_t kRates = 8;
constexpr double kGrid = 2.5;

using Curve = std::array<double, kRates>;

struct Setting {
  std::string name;
  worker::Optimizer settings;
  double first_rate = 0;
};

/// A table of factors at one S, as the study would have it or with one rule wrong.
struct Rule {
  std::string name;
  double scaling = 1;
  shrink::Parametrization parametrization = shrink::Parametrization::kMup;
  chain::Edit edit = {};
};

double rate(const Setting& optimizer, std::size_t place) {
  return optimizer.first_rate * std::pow(kGrid, static_cast<double>(place));
}

std::shared_ptr<const data::Loader> images(const std::string& split, std::int64_t limit) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  data::Dataset set =
      data::load_split(
          {.source = data::IdxSource{.images = folder / (split + "-images-idx3-ubyte.gz"),
                                     .labels = folder / (split + "-labels-idx1-ubyte.gz")},
           .limit = limit})
          .value();
  return std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(set)),
      std::vector<data::Transform>{data::Normalize{.mean = {.286F}, .std = {.353F}}},
      data::Use::kTraining,
      1);
}

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

worker::ContainerSpec spec_of(const Setting& optimizer, double lr, std::uint64_t seed) {
  worker::ContainerSpec spec{
      .id = worker::ContainerId{1},
      .model = "mlp",
      .batch_size = kBatch,
      .budget = {.steps = kSteps, .steps_per_epoch = kSteps, .evaluate_every = kSteps},
      .study_seed = seed,
      .data_seed = seed,
      .trials = {}};
  worker::TrialSpec& trial = spec.trials.emplace_back();
  trial.id = worker::TrialId{0};
  trial.settings.optimizer = optimizer.settings;
  trial.settings.optimizer.lr = lr;
  return spec;
}

/// Loss on the held-out images after training; infinite where it diverged.
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
  run(worker::Run{spec.id, kSteps, 1});
  return loss;
}

/// Mean over seeds.
Curve curve_of(train::Study study,
               const ir::Model& model,
               const Rule& rule,
               const Setting& optimizer,
               std::uint64_t first_seed) {
  study.models["mlp"] = std::make_shared<const shrink::Surrogate>(table_of(model, rule));
  const auto shared = std::make_shared<const train::Study>(std::move(study));
  Curve curve{};
  for (std::size_t i = 0; i < kRates; ++i) {
    for (std::uint64_t seed = first_seed; seed < first_seed + kSeeds; ++seed) {
      curve.at(i) += loss_after(shared, spec_of(optimizer, rate(optimizer, i), seed)) / kSeeds;
    }
  }
  return curve;
}

std::size_t best_of(const Curve& curve) {
  return static_cast<std::size_t>(std::ranges::min_element(curve) - curve.begin());
}

/// Where the curve has come down: the first rate within 2 % of the least loss. Behind it lie a
/// flat stretch and rates that are nearly unstable, where seeds decide.
std::size_t bottom_of(const Curve& curve) {
  const double enough = 1.02 * *std::ranges::min_element(curve);
  return static_cast<std::size_t>(
      std::ranges::find_if(curve, [&](double loss) { return loss <= enough; }) - curve.begin());
}

/// max |L_S / L_1 - 1| up to rate `last`.
double distance(const Curve& whole, const Curve& curve, std::size_t last) {
  double found = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    found = std::max(found, std::abs((curve.at(i) / whole.at(i)) - 1));
  }
  return found;
}

void print_row(const Rule& rule, const Curve& curve, const Curve& whole) {
  std::printf("| %s | %g |", rule.name.c_str(), rule.scaling);
  for (const double loss : curve) {
    std::printf(" %.4f |", loss);
  }
  std::printf(" %zu | %.3f | %.3f |\n",
              best_of(curve),
              distance(whole, curve, bottom_of(whole)),
              distance(whole, curve, best_of(whole)));
  std::fflush(stdout);
}

std::vector<Rule> rules_of(const Setting& optimizer) {
  std::vector<Rule> rules = {{.name = "mup", .scaling = 2},
                             {.name = "mup", .scaling = 4},
                             {.name = "standard",
                              .scaling = 4,
                              .parametrization = shrink::Parametrization::kStandard}};
  if (optimizer.settings.kind == worker::OptimizerKind::kSgd) {
    rules.push_back(
        {.name = "hidden SGD x S", .scaling = 4, .edit = chain::take_papers_hidden_rate});
  } else {
    rules.push_back({.name = "hidden Adam unscaled",
                     .scaling = 4,
                     .edit = chain::leave_hidden_adam_unscaled});
  }
  return rules;
}

void compare(const train::Study& study,
             const ir::Model& model,
             const Setting& optimizer,
             std::uint64_t first_seed) {
  std::printf("\n%s, seeds %llu to %llu\n\n| rule | S |",
              optimizer.name.c_str(),
              static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(first_seed + kSeeds - 1));
  for (std::size_t i = 0; i < kRates; ++i) {
    std::printf(" %.3g |", rate(optimizer, i));
  }
  std::puts(
      " best | distance | to the best "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  const Rule target{.name = "target"};
  const Curve whole = curve_of(study, model, target, optimizer, first_seed);
  print_row(target, whole, whole);
  for (const Rule& rule : rules_of(optimizer)) {
    print_row(rule, curve_of(study, model, rule, optimizer, first_seed), whole);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::puts("usage: transfer_bench ARCHIVE.pt2 FIRST_SEED");
    return 2;
  }
  train::prepare_process();
  const Result<pt2::Archive> archive = pt2::read_archive(argv[1], {});
  if (!archive) {
    std::puts(archive.error().what.c_str());
    return 2;
  }
  train::Study study;
  study.training = images("train", kSteps * kBatch);
  study.validation = images("t10k", 2000);
  const auto first_seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  for (const Setting& optimizer :
       {Setting{
            .name = "SGD with momentum .9", .settings = {.momentum = .9}, .first_rate = 2e-4},
        Setting{.name = "Adam",
                .settings = {.kind = worker::OptimizerKind::kAdam},
                .first_rate = 1e-5}}) {
    compare(study, archive->model, optimizer, first_seed);
  }
  return 0;
}
