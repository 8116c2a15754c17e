// `train.optimizer` and `train.schedule`: a mapping each, whose name decides the other keys.
// Defaults are PyTorch's.
#include "hydro/job/optimizer_section.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/yaml.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using worker::Optimizer;
using worker::OptimizerKind;
using worker::Schedule;
using worker::ScheduleKind;
using worker::Span;

template <class Section>
Result<void> read_name(const Reader& /*reader*/,
                       const Node& /*node*/,
                       const Row<Section>& /*row*/,
                       Section& /*out*/) {
  return {};  // read first: it chose this table
}

// ---- Optimizers ----

constexpr Limits kAtLeastZero{.low = 0};
constexpr Limits kAboveZero{.low = 0, .low_open = true};
constexpr Limits kUnderOne{.low = 0, .high = 1, .high_open = true};
constexpr Limits kUpToOne{.low = 0, .high = 1};

Result<void> read_betas(const Reader& reader,
                        const Node& node,
                        const Row<Optimizer>& row,
                        Optimizer& out) {
  if (!node.is_sequence() || node.items.size() != 2) {
    return reader.wrong(node, row.key, row.type);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto beta = as_number(node.items[i]);
    const bool usable = beta && *beta >= 0 && *beta < 1;  // not for NaN
    if (!usable) {
      return reader.wrong(node.items[i], row.key, "two numbers in [0, 1)");
    }
    (i == 0 ? out.beta1 : out.beta2) = *beta;
  }
  return {};
}

constexpr Row<Optimizer> kName{
    "name", "sgd, adam or adamw", "", "the optimizer", &read_name<Optimizer>};
constexpr Row<Optimizer> kLr{"lr",
                             "a number above 0",
                             "0.001",
                             "base learning rate, of the target",
                             &read_number<&Optimizer::lr, kAboveZero, Optimizer>};
constexpr Row<Optimizer> kBetas{"betas",
                                "a list of two numbers in [0, 1)",
                                "[0.9, 0.999]",
                                "decay of the running means",
                                &read_betas};
constexpr Row<Optimizer> kEps{"eps",
                              "a number above 0",
                              "1e-8",
                              "added to the denominator",
                              &read_number<&Optimizer::eps, kAboveZero, Optimizer>};
constexpr Row<Optimizer> kAmsgrad{"amsgrad",
                                  "true or false",
                                  "false",
                                  "keep the largest second moment",
                                  &read_bool<&Optimizer::amsgrad, Optimizer>};

constexpr Row<Optimizer> decay_row(std::string_view fallback, std::string_view meaning) {
  return {"weight_decay",
          "a number of at least 0",
          fallback,
          meaning,
          &read_number<&Optimizer::weight_decay, kAtLeastZero, Optimizer>};
}

constexpr auto kSgdRows = std::to_array<Row<Optimizer>>({
    kName,
    kLr,
    {"momentum",
     "a number in [0, 1)",
     "0",
     "share of the last step that goes on",
     &read_number<&Optimizer::momentum, kUnderOne, Optimizer>},
    {"dampening",
     "a number in [0, 1]",
     "0",
     "of the gradient inside momentum",
     &read_number<&Optimizer::dampening, kUpToOne, Optimizer>},
    {"nesterov",
     "true or false",
     "false",
     "look one momentum step ahead",
     &read_bool<&Optimizer::nesterov, Optimizer>},
    decay_row("0", "L2 penalty"),
});

constexpr auto kAdamRows = std::to_array<Row<Optimizer>>({
    kName,
    kLr,
    kBetas,
    kEps,
    kAmsgrad,
    decay_row("0", "L2 penalty"),
});

constexpr auto kAdamWRows = std::to_array<Row<Optimizer>>({
    kName,
    kLr,
    kBetas,
    kEps,
    kAmsgrad,
    decay_row("0.01", "decoupled: each step takes lr x weight_decay"),
});

std::span<const Row<Optimizer>> optimizer_rows(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return kSgdRows;
    case OptimizerKind::kAdam:
      return kAdamRows;
    case OptimizerKind::kAdamW:
      return kAdamWRows;
  }
  return {};
}

/// torch refuses it too: the look-ahead is defined for plain momentum only.
Result<void> check_nesterov(const Reader& reader, const Node& map, const Optimizer& optimizer) {
  if (!optimizer.nesterov || (optimizer.momentum > 0 && optimizer.dampening == 0)) {
    return {};
  }
  return reader
      .error(*map.find("nesterov"),
             "H0109",
             "`nesterov` needs a momentum above 0 and no dampening")
      .fix("set momentum, or remove nesterov");
}

// ---- Schedules ----

constexpr std::string_view kSpanForm = "a share (40%), epochs (1 epoch) or whole steps (300)";

/// A span of at least one whole step, at most the whole budget when it is a share.
std::optional<Span> checked_span(const Node& node) {
  const auto span = as_span(node);
  const bool whole =
      span && (span->unit != Span::Unit::kSteps || span->amount == std::floor(span->amount));
  return whole ? span : std::nullopt;
}

Result<void> read_warmup(const Reader& reader,
                         const Node& node,
                         const Row<Schedule>& row,
                         Schedule& out) {
  const auto span = checked_span(node);
  if (!span || (span->unit == Span::Unit::kShare && span->amount > 1)) {
    return reader.wrong(node, row.key, row.type);
  }
  out.warmup = *span;
  return {};
}

Result<void> read_step_size(const Reader& reader,
                            const Node& node,
                            const Row<Schedule>& row,
                            Schedule& out) {
  const auto span = checked_span(node);
  if (!span || span->amount <= 0) {
    return reader.wrong(node, row.key, row.type);
  }
  out.step_size = *span;
  return {};
}

constexpr Row<Schedule> kScheduleName{
    "name", "constant, step, cosine or linear", "", "the schedule", &read_name<Schedule>};
constexpr Row<Schedule> kWarmup{
    "warmup", kSpanForm, "0%", "the rate rises linearly over it", &read_warmup};

constexpr auto kPlainRows = std::to_array<Row<Schedule>>({kScheduleName, kWarmup});
constexpr auto kStepRows = std::to_array<Row<Schedule>>({
    kScheduleName,
    kWarmup,
    {"step_size", kSpanForm, "", "from one boundary to the next", &read_step_size},
    {"gamma",
     "a number above 0, up to 1",
     "0.1",
     "factor on the rate at each boundary",
     &read_number<&Schedule::gamma, Limits{.low = 0, .high = 1, .low_open = true}, Schedule>},
});

std::span<const Row<Schedule>> schedule_rows(ScheduleKind kind) {
  return kind == ScheduleKind::kStep ? std::span<const Row<Schedule>>(kStepRows)
                                     : std::span<const Row<Schedule>>(kPlainRows);
}

// ---- Both ----

/// `adamw` stands for {name: adamw}.
Node as_mapping(const Node& node) {
  if (!node.is_scalar()) {
    return node;
  }
  Node map = make_map();
  map.place = node.place;
  map.set("name", node);
  return map;
}

Result<const Node*> name_of(const Reader& reader,
                            const Node& map,
                            std::string_view section,
                            std::string_view names) {
  if (!map.is_map()) {
    return reader.wrong(map, section, "a mapping with a name: " + std::string(names));
  }
  const Node* name = map.find("name");
  if (name == nullptr) {
    return reader.error(map, "H0106", "`" + std::string(section) + "` needs a `name`")
        .fix("one of " + std::string(names));
  }
  return name;
}

Error unknown_name(const Reader& reader,
                   const Node& name,
                   std::string_view section,
                   std::string_view names,
                   std::span<const std::string> known) {
  Error fault = reader.wrong(name, std::string(section) + ".name", names);
  const std::string meant = name.is_scalar() ? nearest(name.text, known) : std::string();
  return meant.empty() ? fault : std::move(fault).fix("did you mean `" + meant + "`?");
}

/// The kind when the name is written out; nothing while it is still to be chosen.
template <class Kind>
std::optional<Kind> fixed_kind(const Node& map, std::optional<Kind> (*find)(std::string_view)) {
  const Node* name = map.is_map() ? map.find("name") : nullptr;
  return name != nullptr && name->is_scalar() ? find(name->text) : std::nullopt;
}

/// `complete` is called on the mapping, or on every option of a choice of mappings.
template <class Complete>
void for_each_option(Node& node, Complete complete) {
  if (node.is_scalar()) {
    node = as_mapping(node);
  }
  const bool is_choice = node.is_map() && node.keys.size() == 1 && node.items[0].is_sequence();
  if (!is_choice) {
    complete(node);
    return;
  }
  const Node before = node;
  std::set<std::string> seen;
  for (Node& option : node.items[0].items) {
    complete(option);
    seen.insert(to_flow(option));
  }
  if (seen.size() < node.items[0].items.size()) {
    node =
        before;  // options that differ only in defaults written out would be repeated options
  }
}

}  // namespace

Result<Optimizer> read_optimizer(const Reader& reader, const Node& node) {
  constexpr std::string_view kNames = "sgd, adam or adamw";
  const Node map = as_mapping(node);
  HYDRO_TRY(const Node* name, name_of(reader, map, "optimizer", kNames));
  const auto kind = name->is_scalar() ? worker::find_optimizer(name->text) : std::nullopt;
  if (!kind) {
    const std::vector<std::string> known{"sgd", "adam", "adamw"};
    return unknown_name(reader, *name, "optimizer", kNames, known);
  }
  Optimizer optimizer;
  optimizer.kind = *kind;
  HYDRO_TRY_VOID(
      read_rows(reader, map, "optimizer " + name->text, optimizer_rows(*kind), optimizer));
  HYDRO_TRY_VOID(check_nesterov(reader, map, optimizer));
  return optimizer;
}

Result<Schedule> read_schedule(const Reader& reader, const Node& node) {
  constexpr std::string_view kNames = "constant, step, cosine or linear";
  const Node map = as_mapping(node);
  HYDRO_TRY(const Node* name, name_of(reader, map, "schedule", kNames));
  const auto kind = name->is_scalar() ? worker::find_schedule(name->text) : std::nullopt;
  if (!kind) {
    const std::vector<std::string> known{"constant", "step", "cosine", "linear"};
    return unknown_name(reader, *name, "schedule", kNames, known);
  }
  Schedule schedule;
  schedule.kind = *kind;
  HYDRO_TRY_VOID(
      read_rows(reader, map, "schedule " + name->text, schedule_rows(*kind), schedule));
  if (*kind == ScheduleKind::kStep && map.find("step_size") == nullptr) {
    return reader.error(map, "H0106", "schedule `step` needs `step_size`")
        .fix("write step_size: 40%");
  }
  return schedule;
}

void complete_optimizer(Node& node) {
  for_each_option(node, [](Node& map) {
    if (const auto kind = fixed_kind(map, &worker::find_optimizer)) {
      fill_defaults(map, optimizer_rows(*kind));
    }
  });
}

void complete_schedule(Node& node) {
  for_each_option(node, [](Node& map) {
    if (const auto kind = fixed_kind(map, &worker::find_schedule)) {
      fill_defaults(map, schedule_rows(*kind));
    }
  });
}

void list_optimizers(std::vector<KnownKey>& keys) {
  list_rows("optimizer sgd", optimizer_rows(OptimizerKind::kSgd), keys);
  list_rows("optimizer adam", optimizer_rows(OptimizerKind::kAdam), keys);
  list_rows("optimizer adamw", optimizer_rows(OptimizerKind::kAdamW), keys);
  list_rows("schedule constant, cosine, linear", schedule_rows(ScheduleKind::kCosine), keys);
  list_rows("schedule step", schedule_rows(ScheduleKind::kStep), keys);
}

}  // namespace hydro::job
