#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/job/job.h"
#include "hydro/pt2/archive.h"
#include "hydro/run/hiding.h"
#include "hydro/run/material.h"
#include "hydro/run/token_tables.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

using Source = decltype(data::SplitSource::source);

Source source_of(const job::IdxFiles& files, const job::DataSection& /*section*/) {
  return data::IdxSource{.images = files.images, .labels = files.labels};
}

Source source_of(const job::ArrayFiles& files, const job::DataSection& /*section*/) {
  return data::ArraySource{.inputs = files.inputs, .target = files.target};
}

/// Images may differ in size where a resize comes first.
Source source_of(const job::ImageFolderFiles& files, const job::DataSection& section) {
  data::ImageFolderSource source{.path = files.path};
  if (!section.transform.empty()) {
    if (const auto* resize = std::get_if<job::Resize>(&section.transform.front())) {
      source.resize = {.height = resize->height, .width = resize->width};
    }
  }
  return source;
}

Source source_of(const job::CifarFiles& files, const job::DataSection& /*section*/) {
  data::CifarSource source{.files = files.files};
  if (files.labels) {
    source.labels = *files.labels == job::CifarLabels::kCoarse ? data::CifarLabels::kCoarse
                                                               : data::CifarLabels::kFine;
  }
  return source;
}

Source source_of(const job::TextFile& file, const job::DataSection& /*section*/) {
  return data::TextSource{.path = file.path, .block = file.block, .tokenizer = file.tokenizer};
}

Result<data::Dataset> load(const job::Split& split, const job::Job& job) {
  Source source =
      std::visit([&](const auto& files) { return source_of(files, job.data); }, split.files);
  if (auto* text = std::get_if<data::TextSource>(&source);
      text != nullptr && job.train.task == worker::Task::kMaskedLanguageModel) {
    text->labels = data::TextLabels::kSame;
  }
  return data::load_split({.source = std::move(source), .limit = split.limit});
}

std::vector<data::Transform> transforms_of(const job::DataSection& section) {
  std::vector<data::Transform> out;
  out.reserve(section.transform.size());
  for (const job::Transform& transform : section.transform) {
    out.push_back(
        std::visit(Overloaded{[](const job::Rgb&) -> data::Transform { return data::Rgb{}; },
                              [](const job::Normalize& t) -> data::Transform {
                                return data::Normalize{.mean = t.mean, .std = t.std};
                              },
                              [](const job::RandomCrop& t) -> data::Transform {
                                return data::RandomCrop{.padding = t.padding, .size = t.size};
                              },
                              [](const job::RandomFlip& t) -> data::Transform {
                                return data::RandomFlip{.p = t.p};
                              },
                              [](const job::Resize& t) -> data::Transform {
                                return data::Resize{.height = t.height, .width = t.width};
                              }},
                   transform));
  }
  return out;
}

data::ElementType element_type(ir::DType dtype) {
  if (dtype == ir::DType::kUInt8) {
    return data::ElementType::kUInt8;
  }
  return ir::is_floating(dtype) ? data::ElementType::kFloat32 : data::ElementType::kInt64;
}

/// What the selected output gives for a batch; null when there is none.
const std::vector<ir::Dim>* find_output_dims(const Architecture& architecture) {
  const ir::Graph& graph = architecture.model->train;
  const auto output =
      std::ranges::find(graph.outputs, ir::OutputKind::kUser, &ir::Output::kind);
  return output == graph.outputs.end() ? nullptr : &graph.value(output->value).tensor().shape;
}

/// One sample's share of it; nothing when that has no batch axis.
std::optional<std::vector<std::int64_t>> output_shape(const Architecture& architecture) {
  const std::vector<ir::Dim>* dims = find_output_dims(architecture);
  if (dims == nullptr) {
    return std::nullopt;
  }
  std::vector<std::int64_t> sample;
  for (const ir::Dim& dim : *dims) {
    if (!dim.dynamic) {
      sample.push_back(dim.size);
    }
  }
  return sample.size() + 1 == dims->size() ? std::optional(sample) : std::nullopt;
}

/// A language model scores the whole vocabulary at every token: [*, T, V].
Result<void> expect_tokens(data::Expectation& expectation,
                           const std::optional<std::vector<std::int64_t>>& shape) {
  if (!shape.has_value() || shape->size() != 2) {
    return make_error("H0505", "the model's output is not [batch, tokens, vocabulary]")
        .at("train.task")
        .because(
            "a language model gives a score for every entry of the vocabulary at every "
            "token")
        .fix("let the model return the scores of all tokens, or change `task`");
  }
  expectation.label_shape = {shape->front()};
  expectation.classes = shape->back();
  return {};
}

/// The loss is one number for the batch.
Result<void> expect_loss(const Architecture& architecture) {
  const std::vector<ir::Dim>* dims = find_output_dims(architecture);
  if (dims != nullptr && dims->empty()) {
    return {};
  }
  return make_error("H0505", "the model's output is no single number")
      .at("train.task")
      .because("with `task: model_loss` the output is the loss, the mean over the batch")
      .fix("select the loss with `model.output`, return its mean, or change `task`");
}

/// What the loss compares with the model's output.
Result<void> expect_target(data::Expectation& expectation,
                           worker::Task task,
                           const Architecture& architecture) {
  const std::optional<std::vector<std::int64_t>> shape = output_shape(architecture);
  switch (task) {
    case worker::Task::kRegression:
      expectation.target_shape = shape;
      return {};
    case worker::Task::kLanguageModel:
    case worker::Task::kMaskedLanguageModel:
      return expect_tokens(expectation, shape);
    case worker::Task::kModelLoss:
      return expect_loss(architecture);
    case worker::Task::kClassification:
      break;
  }
  if (shape.has_value() && !shape->empty()) {
    expectation.classes = shape->back();
  }
  return {};
}

/// How many tokens every model knows: it takes and scores them.
std::int64_t known_tokens(const std::vector<Architecture>& architectures) {
  std::int64_t most = INT64_MAX;
  for (const Architecture& architecture : architectures) {
    const auto shape = output_shape(architecture);
    most = std::min(most, shape && !shape->empty() ? shape->back() : INT64_MAX);
    for (const pt2::ManifestInput& input : architecture.manifest.inputs) {
      most =
          std::min(most, table_rows(architecture.model->train, input.name).value_or(INT64_MAX));
    }
  }
  return most;
}

Result<data::Expectation> expectation_of(const job::Job& job,
                                         const Architecture& architecture,
                                         const std::optional<data::Masking>& masking,
                                         data::Use use) {
  data::Expectation out{.inputs = {}, .classes = {}, .masking = masking};
  for (const pt2::ManifestInput& input : architecture.manifest.inputs) {
    std::vector<std::int64_t> shape = input.shape;
    shape.erase(shape.begin() + input.batch_axis);
    out.inputs.push_back({.name = input.name,
                          .type = element_type(input.dtype),
                          .shape = std::move(shape),
                          .rows = table_rows(architecture.model->train, input.name)});
  }
  HYDRO_TRY_VOID(expect_target(out, job.train.task, architecture));
  out.batch_size =
      use == data::Use::kTraining && job.train.drop_last ? job::largest_batch_size(job) : 1;
  return out;
}

struct Splits {
  data::Dataset train;
  data::Dataset val;
  std::optional<data::Dataset> test;
};

/// A file that cannot be opened is shown where the job names it; what is wrong inside a file is
/// not the job's fault.
Result<data::Dataset> load_named(const job::Job& job,
                                 const job::Split& split,
                                 const std::string& section) {
  Result<data::Dataset> loaded = load(split, job);
  if (!loaded.has_value() && loaded.error().id == "H0401") {
    const std::filesystem::path file = loaded.error().where;
    return job::point_at_file(job, section, file, std::move(loaded).error());
  }
  return loaded;
}

/// Both parts have a sample.
Result<void> check_share(const job::Job& job, std::int64_t samples) {
  const double wanted = job.data.val_share.value_or(0) * static_cast<double>(samples);
  const auto drawn = std::llround(wanted);
  if (drawn >= 1 && drawn < samples) {
    return {};
  }
  const std::string part = drawn < 1 ? "validation" : "training";
  return job::point_at(job,
                       "data.val_share",
                       make_error("H0405",
                                  "`val_share` leaves no sample for " + part + ": " +
                                      plain_number(wanted) + " of " + std::to_string(samples))
                           .at("data.val_share")
                           .fix("write a share such as 0.1, or name a split of its own by "
                                "`data.val`"));
}

Result<Splits> load_splits(const job::Job& job) {
  const job::DataSection& section = job.data;
  Splits out;
  HYDRO_TRY(out.train, load_named(job, section.train, "data.train"));
  if (section.val.has_value()) {
    HYDRO_TRY(out.val, load_named(job, *section.val, "data.val"));
    HYDRO_TRY_VOID(data::check_same_classes(out.train, out.val, "val"));
  } else {
    if (out.train.size < 2) {
      return job::point_at(
          job,
          "data.val_share",
          make_error("H0405", "one sample cannot be shared by training and validation")
              .at("data.val_share")
              .fix("give more samples, or name a split of its own by `data.val`"));
    }
    HYDRO_TRY_VOID(check_share(job, out.train.size));
    auto [rest, drawn] =
        data::split_off(out.train, section.val_share.value_or(0), section.seed);
    out.train = std::move(rest);
    out.val = std::move(drawn);
  }
  if (section.test.has_value()) {
    HYDRO_TRY(out.test, load_named(job, *section.test, "data.test"));
    HYDRO_TRY_VOID(data::check_same_classes(out.train, *out.test, "test"));
  }
  return out;
}

}  // namespace

Result<Loaders> prepare_data(const job::Job& job,
                             const std::vector<Architecture>& architectures) {
  HYDRO_TRY(Splits splits, load_splits(job));
  HYDRO_TRY(const std::optional<data::Masking> masking,
            masking_of(job, known_tokens(architectures)));
  const std::vector<data::Transform> transforms = transforms_of(job.data);
  const auto check =
      [&](const data::Dataset& set, data::Use use, const std::string& what) -> Result<void> {
    const std::string section = "data." + what;
    for (const Architecture& architecture : architectures) {
      HYDRO_TRY(const data::Expectation expectation,
                expectation_of(job, architecture, masking, use));
      Result<void> checked = data::check_dataset(set, transforms, expectation, use, what);
      if (!checked.has_value() && checked.error().where == section) {  // not inside a file
        return job::point_at(job, section, std::move(checked).error());
      }
      HYDRO_TRY_VOID(std::move(checked));
    }
    return {};
  };
  HYDRO_TRY_VOID(check(splits.train, data::Use::kTraining, "train"));
  HYDRO_TRY_VOID(check(
      splits.val, data::Use::kEvaluation, job.data.val.has_value() ? "val" : "val_share"));
  const auto loader = [&](data::Dataset set, data::Use use) {
    // Shared by the workers of all slots.
    return std::make_shared<const data::Loader>(
        std::make_shared<const data::Dataset>(std::move(set)),
        transforms,
        use,
        job.data.seed,
        masking);
  };
  Loaders out;
  if (splits.test.has_value()) {
    HYDRO_TRY_VOID(check(*splits.test, data::Use::kEvaluation, "test"));
    out.test = loader(*std::move(splits.test), data::Use::kEvaluation);
  }
  out.training = loader(std::move(splits.train), data::Use::kTraining);
  out.validation = loader(std::move(splits.val), data::Use::kEvaluation);
  return out;
}

}  // namespace hydro::run
