#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/job/job.h"
#include "hydro/job/transfer.h"
#include "hydro/run/check_report.h"
#include "hydro/run/coordinate_check.h"
#include "hydro/search/preview.h"
#include "hydro/search/space.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {
namespace {

OrderedJson tagged(const std::string& label) {
  OrderedJson row = OrderedJson::object();
  if (!label.empty()) {
    row["model"] = label;
  }
  return row;
}

OrderedJson width_json(const std::string& label, const shrink::WidthClass& width) {
  OrderedJson row = tagged(label);
  row["class"] = width.name;
  row["size"] = width.size;
  row["surrogate"] = width.surrogate;
  row["ratio"] = width.ratio;
  row["pinned_because"] =
      width.pinned_because.empty() ? OrderedJson(nullptr) : OrderedJson(width.pinned_because);
  row["held_because"] =
      width.held_because.empty() ? OrderedJson(nullptr) : OrderedJson(width.held_because);
  return row;
}

OrderedJson law_json(const ir::Law& law) {
  return {{"rows", {law.row_begin, law.row_end}},
          {"law", std::string(ir::law_name(law.kind))},
          {"mean", law.mean},
          {"std", law.std},
          {"low", law.low},
          {"high", law.high},
          {"value", law.value}};
}

OrderedJson factors_json(const shrink::Factors& factors) {
  return {{"lr", factors.lr}, {"decay", factors.decay}, {"eps", factors.eps}};
}

OrderedJson parameter_json(const std::string& label, const shrink::ParameterPlan& plan) {
  OrderedJson row = tagged(label);
  row["name"] = plan.name;
  row["role"] = std::string(shrink::role_name(plan.role));
  row["readout"] = plan.readout;
  row["shape"] = plan.shape;
  row["surrogate_shape"] = plan.surrogate_shape;
  row["r_in"] = plan.r_in;
  row["r_out"] = plan.r_out;
  row["init"] = OrderedJson::array();
  for (const ir::Law& law : plan.laws) {
    row["init"].push_back(law_json(law));
  }
  row["factors"] = {{"sgd", factors_json(plan.sgd)},
                    {"adam", factors_json(plan.adam)},
                    {"adamw", factors_json(plan.adamw)}};
  row["multiplier"] = plan.multiplier;
  return row;
}

OrderedJson value_json(const search::Value& value) {
  return std::visit([](const auto& held) { return OrderedJson(held); }, value);
}

OrderedJson space_json(const CheckReport& report) {
  OrderedJson rows = OrderedJson::array();
  for (std::size_t i = 0; i < report.space.parameters.size(); ++i) {
    const search::Parameter& parameter = report.space.parameters[i];
    const job::Transfer& transfer = report.transfers.at(i);
    OrderedJson row = {
        {"path", parameter.path},
        {"name", parameter.name},
        {"distribution", std::string(search::distribution_name(parameter.distribution))},
        {"median", value_json(search::median(parameter.distribution))},
        {"transfer", std::string(job::transfer_name(transfer.kind))},
        {"why", std::string(transfer.why)}};
    if (const auto values = search::values(parameter.distribution);
        values.has_value() && values->size() <= 100) {
      row["values"] = OrderedJson::array();
      for (const search::Value& value : *values) {
        row["values"].push_back(value_json(value));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

OrderedJson defaults_json(const std::vector<job::DefaultValue>& defaults) {
  OrderedJson rows = OrderedJson::array();
  for (const job::DefaultValue& it : defaults) {
    rows.push_back({{"path", it.path}, {"value", it.value}});
  }
  return rows;
}

OrderedJson trials_json(const std::optional<CheckedScheduler>& scheduler) {
  return scheduler.has_value() ? OrderedJson(scheduler->trials) : OrderedJson(nullptr);
}

OrderedJson rungs_json(const std::optional<CheckedScheduler>& scheduler) {
  OrderedJson rows = OrderedJson::array();
  if (scheduler.has_value()) {
    for (const search::ExpectedRung& rung : scheduler->preview.rungs) {
      rows.push_back({{"at", rung.at}, {"expected_trials", rung.trials}});
    }
  }
  return rows;
}

OrderedJson evaluations_json(const std::optional<CheckedScheduler>& scheduler) {
  if (!scheduler.has_value()) {
    return nullptr;
  }
  return {{"expected", scheduler->preview.evaluations},
          {"all_to_the_end", scheduler->preview.all_to_the_end}};
}

OrderedJson coordinates_json(const std::optional<shrink::CoordinateVerdict>& verdict) {
  if (!verdict.has_value()) {
    return nullptr;
  }
  OrderedJson out = {{"passed", verdict->passed},
                     {"hidden_mean", verdict->hidden_mean},
                     {"losses_equal", verdict->losses_equal},
                     {"judged_from_width", verdict->plan.narrowest},
                     {"failed", OrderedJson::array()},
                     {"misses", OrderedJson::array()},
                     {"layers", OrderedJson::array()}};
  for (const shrink::Miss& miss : verdict->misses) {
    out["failed"].push_back(miss.what);
    out["misses"].push_back(
        {{"what", miss.what}, {"value", miss.value}, {"low", miss.low}, {"high", miss.high}});
  }
  for (const shrink::JudgedLayer& layer : verdict->layers) {
    out["layers"].push_back({{"layer", layer.layer},
                             {"role", std::string(shrink::role_name(layer.role))},
                             {"update_ratio", layer.update_ratio},
                             {"activation_ratio", layer.activation_ratio},
                             {"judged", layer.judged()},
                             {"not_judged_because", layer.not_judged_because},
                             {"passed", layer.passed}});
  }
  return out;
}

/// A failed coordinate check is one of them.
std::vector<Error> all_refusals(const CheckReport& report) {
  std::vector<Error> refusals = report.refusals;
  if (report.coordinates) {
    if (std::optional<Error> failed = refusal_of(*report.coordinates)) {
      refusals.push_back(*std::move(failed));
    }
  }
  return refusals;
}

OrderedJson refusals_json(const CheckReport& report) {
  OrderedJson rows = OrderedJson::array();
  for (const Error& error : all_refusals(report)) {
    rows.push_back({{"code", error.id},
                    {"what", error.what},
                    {"where", error.where},
                    {"why", error.why},
                    {"do", error.remedy}});
  }
  return rows;
}

}  // namespace

std::string check_json(const CheckReport& report) {
  OrderedJson out = {{"study", report.study},
                     {"scaling", report.scaling},
                     {"widths", OrderedJson::array()},
                     {"parameters", OrderedJson::array()},
                     {"space", space_json(report)},
                     {"defaults", defaults_json(report.defaults)},
                     {"trials", trials_json(report.scheduler)},
                     {"rungs", rungs_json(report.scheduler)},
                     {"evaluations", evaluations_json(report.scheduler)},
                     {"groups", OrderedJson::array()},
                     {"coordinates", coordinates_json(report.coordinates)},
                     {"warnings", report.warnings},
                     {"refusals", refusals_json(report)}};
  for (const CheckedModel& model : report.models) {
    for (const shrink::WidthClass& width : model.surrogate.classes) {
      out["widths"].push_back(width_json(model.label, width));
    }
    for (const shrink::ParameterPlan& plan : model.surrogate.parameters) {
      out["parameters"].push_back(parameter_json(model.label, plan));
    }
  }
  for (const CheckedGroup& group : report.groups) {
    OrderedJson row = tagged(group.model);
    row["batch_size"] = group.batch_size;
    row["trials"] = group.trials;
    row["containers"] = group.containers;
    out["groups"].push_back(std::move(row));
  }
  return out.dump(1) + "\n";
}

}  // namespace hydro::run
