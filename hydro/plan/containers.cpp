#include "hydro/plan/containers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::plan {
namespace {

struct KeyField {
  std::string_view name;
  std::string (*text)(const Candidate&);
};

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

// All that decides a shape or a code path. What is absent (lr, momentum, betas, eps, decay,
// schedule numbers, the clip limit, label smoothing) is a number per trial.
constexpr std::array kKeyFields = {
    KeyField{.name = "model", .text = [](const Candidate& c) { return c.model; }},
    KeyField{.name = "batch_size",
             .text = [](const Candidate& c) { return std::to_string(c.batch_size); }},
    KeyField{.name = "steps",
             .text = [](const Candidate& c) { return std::to_string(c.budget.steps); }},
    KeyField{
        .name = "steps_per_epoch",
        .text = [](const Candidate& c) { return std::to_string(c.budget.steps_per_epoch); }},
    KeyField{
        .name = "evaluate_every",
        .text = [](const Candidate& c) { return std::to_string(c.budget.evaluate_every); }},
    KeyField{.name = "steps_done",
             .text = [](const Candidate& c) { return std::to_string(c.steps_done); }},
    KeyField{.name = "optimizer",
             .text =
                 [](const Candidate& c) {
                   return std::string(worker::optimizer_name(c.settings.optimizer.kind));
                 }},
    KeyField{
        .name = "nesterov",
        .text = [](const Candidate& c) { return yes_or_no(c.settings.optimizer.nesterov); }},
    KeyField{
        .name = "amsgrad",
        .text = [](const Candidate& c) { return yes_or_no(c.settings.optimizer.amsgrad); }},
    KeyField{.name = "schedule",
             .text =
                 [](const Candidate& c) {
                   return std::string(worker::schedule_name(c.settings.schedule.kind));
                 }},
    KeyField{
        .name = "clip_norm",
        .text = [](const Candidate& c) { return yes_or_no(c.settings.clip_norm.has_value()); }},
    KeyField{.name = "amp",
             .text = [](const Candidate& c) { return yes_or_no(c.settings.bf16); }},
};

struct Container {
  double work = 0;
  std::vector<worker::TrialId> trials;
};

double work_of(const Candidate& candidate) {
  return static_cast<double>(candidate.budget.steps) *
         static_cast<double>(candidate.batch_size) * candidate.cost_per_sample;
}

void split_evenly(const std::vector<const Candidate*>& group,
                  std::int64_t limit,
                  std::vector<Container>& containers) {
  const auto size = static_cast<std::int64_t>(group.size());
  const std::int64_t parts = (size + limit - 1) / limit;
  std::int64_t next = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t end = next + size / parts + (part < size % parts ? 1 : 0);
    Container container;
    for (; next < end; ++next) {
      const Candidate& candidate = *group[static_cast<std::size_t>(next)];
      container.work += work_of(candidate);
      container.trials.push_back(candidate.id);
    }
    containers.push_back(std::move(container));
  }
}

}  // namespace

std::vector<Difference> differences(const Candidate& left, const Candidate& right) {
  std::vector<Difference> found;
  for (const KeyField& field : kKeyFields) {
    Difference difference{
        .what = std::string(field.name), .left = field.text(left), .right = field.text(right)};
    if (difference.left != difference.right) {
      found.push_back(std::move(difference));
    }
  }
  return found;
}

std::string container_key(const Candidate& candidate) {
  std::string key;
  for (const KeyField& field : kKeyFields) {
    const std::string text = field.text(candidate);
    // The length keeps a model's name from imitating the fields after it.
    key += std::string(field.name) + "=" + std::to_string(text.size()) + ":" + text + " ";
  }
  return key;
}

std::vector<std::vector<worker::TrialId>> pack(std::span<const Candidate> candidates,
                                               std::int64_t limit) {
  HYDRO_CHECK(limit >= 1, "limit " + std::to_string(limit));
  std::map<std::string, std::vector<const Candidate*>> groups;
  for (const Candidate& candidate : candidates) {
    groups[container_key(candidate)].push_back(&candidate);
  }
  std::vector<Container> containers;
  for (auto& [key, group] : groups) {
    std::ranges::sort(group, {}, &Candidate::id);
    split_evenly(group, limit, containers);
  }
  std::ranges::sort(containers, [](const Container& left, const Container& right) {
    return left.work != right.work ? left.work > right.work
                                   : left.trials.front() < right.trials.front();
  });
  std::vector<std::vector<worker::TrialId>> packed;
  packed.reserve(containers.size());
  for (Container& container : containers) {
    packed.push_back(std::move(container.trials));
  }
  return packed;
}

}  // namespace hydro::plan
