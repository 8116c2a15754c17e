// hydro/job/sections.h — the sections of a job file. One source file each; its table of rows is
// what a user may write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/worker/settings.h"

namespace hydro::job {

/// A `train:` section in which nothing is left to choose.
struct TrainValues : TrainSection {
  worker::TrialSettings settings;
  std::int64_t batch_size = 0;
  std::vector<Error> warnings;
};

/// Every function reads one section whose mapping is `node`; `model.kwargs` is not read by
/// read_model.
[[nodiscard]] Result<ModelSection> read_model(const Reader& reader, const Node& node);
[[nodiscard]] Result<DataSection> read_data(const Reader& reader, const Node& node);
[[nodiscard]] Result<std::vector<Transform>> read_transforms(const Reader& reader,
                                                             const Node& node);
/// A split of `format: image_folder`, or of `cifar_binary`; `name` is the split's.
[[nodiscard]] Result<Split> read_image_folder_split(const Reader& reader,
                                                    const Node& node,
                                                    std::string_view name);
[[nodiscard]] Result<Split> read_cifar_split(const Reader& reader,
                                             const Node& node,
                                             std::string_view name);
/// Requires: no distribution is left in `node`
[[nodiscard]] Result<TrainValues> read_train(const Reader& reader, const Node& node);
/// Errors: H0106 no target where the task needs one; H0109 a task and a format, target or
/// transform that exclude each other
[[nodiscard]] Result<void> check_task(const Reader& reader,
                                      const Node& data_node,
                                      const DataSection& data,
                                      worker::Task task);

/// What decides which metrics trials report.
struct Reported {
  worker::Task task = worker::Task::kClassification;
  bool of_bytes = false;  // trials are compared on a text
};

[[nodiscard]] Result<TuneSection> read_tune(const Reader& reader,
                                            const Node& node,
                                            const Reported& reported,
                                            std::vector<Error>& warnings);
[[nodiscard]] Result<SearchSection> read_search(const Reader& reader, const Node& node);
[[nodiscard]] Result<ResourcesSection> read_resources(const Reader& reader, const Node& node);

/// Each adds what the user left out and makes paths absolute, in place.
void complete_model(const Reader& reader, Node& node);
void complete_data(const Reader& reader, Node& node);
void complete_train(Node& node);
void complete_tune(Node& node, const TuneSection& read);
void complete_search(Node& node, const SearchSection& read);
void complete_resources(Node& node);

/// Each appends the tables of its section: what a user may write.
void list_model(std::vector<KnownKey>& keys);
void list_data(std::vector<KnownKey>& keys);
void list_image_splits(std::vector<KnownKey>& keys);
void list_transforms(std::vector<KnownKey>& keys);
void list_train(std::vector<KnownKey>& keys);
void list_tune(std::vector<KnownKey>& keys);
void list_search(std::vector<KnownKey>& keys);
void list_resources(std::vector<KnownKey>& keys);
/// Every key of a job file.
[[nodiscard]] std::vector<KnownKey> known_keys();

/// Free-form arguments as JSON. Errors: H0105 for words and numbers whose type would be a guess
[[nodiscard]] Result<std::string> to_json(const Reader& reader, const Node& node);

}  // namespace hydro::job
