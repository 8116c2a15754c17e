#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/check_text.h"
#include "hydro/data/dataset.h"
#include "hydro/data/raw_array.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

std::string name_of(ElementType type) {
  switch (type) {
    case ElementType::kUInt8:
      return "uint8";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kFloat32:
      break;
  }
  return "float32";
}

std::string place_of(const std::string& what, const std::filesystem::path& file) {
  return file.empty() ? "data." + what : "data." + what + ": " + file.string();
}

/// A single input needs no name.
const Field* find_field(const Dataset& dataset,
                        const Expectation& expectation,
                        const std::string& name) {
  const auto found = std::ranges::find(dataset.inputs, name, &Field::name);
  if (found != dataset.inputs.end()) {
    return &*found;
  }
  const bool is_only = dataset.inputs.size() == 1 && expectation.inputs.size() == 1;
  const bool unnamed = is_only && (dataset.inputs.front().name.empty() || name.empty());
  return unnamed ? &dataset.inputs.front() : nullptr;
}

Result<void> check_names(const Dataset& dataset,
                         const Expectation& expectation,
                         const std::string& what) {
  std::vector<std::string> wanted;
  wanted.reserve(expectation.inputs.size());
  for (const auto& input : expectation.inputs) {
    wanted.push_back("`" + printable(input.name) + "`");
  }
  const auto is_there = [&](const auto& input) {
    return find_field(dataset, expectation, input.name) != nullptr;
  };
  if (dataset.inputs.size() == expectation.inputs.size() &&
      std::ranges::all_of(expectation.inputs, is_there)) {
    return {};
  }
  std::vector<std::string> given;
  given.reserve(dataset.inputs.size());
  for (const Field& field : dataset.inputs) {
    given.push_back("`" + printable(field.name) + "`");
  }
  if (dataset.is_text()) {
    return make_error("H0412", "a text fills one input, the model takes " + join(wanted, ", "))
        .at("data." + what)
        .fix("give the model one input of tokens, or use format: arrays");
  }
  return make_error("H0412",
                    "the data hold inputs " + join(given, ", ") + ", the model takes " +
                        join(wanted, ", "))
      .at("data." + what);
}

Result<void> check_size(const Dataset& dataset,
                        const Expectation& expectation,
                        Use use,
                        const std::string& what) {
  if (dataset.size < 1) {
    return make_error("H0405", "the data set has no samples")
        .at(place_of(what, dataset.target.file));
  }
  if (use == Use::kTraining && dataset.size < expectation.batch_size) {
    return make_error("H0408",
                      std::to_string(dataset.size) + " samples are fewer than one batch of " +
                          std::to_string(expectation.batch_size))
        .at(place_of(what, dataset.target.file));
  }
  return {};
}

Result<std::vector<std::int64_t>> transformed(const Field& field,
                                              std::span<const Transform> transforms) {
  ImageShape shape{
      .channels = field.shape[0], .height = field.shape[1], .width = field.shape[2]};
  for (const Transform& transform : transforms) {
    HYDRO_TRY(shape, shape_after(shape, transform));
  }
  return std::vector{shape.channels, shape.height, shape.width};
}

Result<void> check_finite(std::span<const std::byte> bytes,
                          std::int64_t samples,
                          const std::string& place) {
  const std::size_t count = bytes.size() / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
    if (!std::isfinite(value)) {
      const std::size_t sample = i / (count / static_cast<std::size_t>(samples));
      return make_error("H0413",
                        "sample " + std::to_string(sample) + " holds " + plain_number(value))
          .at(place);
    }
  }
  return {};
}

/// What the model is fed: images are scaled, tokens are whole numbers.
ElementType fed_type(const Field& field) {
  if (field.is_image) {
    return ElementType::kFloat32;
  }
  return field.is_text ? ElementType::kInt64 : field.type;
}

std::string why_of_type(const Field& field) {
  if (field.is_text) {
    return "a text gives tokens, which are whole numbers";
  }
  return fed_type(field) == ElementType::kInt64
             ? "only uint8 arrays [N, C, H, W] are images; other whole numbers stay whole"
             : "numbers are not rounded silently";
}

Error wrong_block(const Field& field, const Expectation::Input& input) {
  const std::string block = std::to_string(field.shape.front());
  Error error = make_error(
      "H0407",
      "blocks of the text are [" + block + "], the model takes " + shape_text(input.shape));
  return input.shape.size() == 1
             ? std::move(error).fix("write `block: " + std::to_string(input.shape.front()) +
                                    "`, or give `model.input` the length " + block)
             : std::move(error).fix("give the model one input int64[*, " + block + "]");
}

/// `shape`: of a sample after the transforms.
Error wrong_shape(const Field& field,
                  const std::vector<std::int64_t>& shape,
                  const Expectation::Input& input) {
  Error error = make_error(
      "H0407",
      "samples are " + shape_text(shape) + ", the model takes " + shape_text(input.shape));
  if (!field.is_image) {
    return std::move(error).fix("change `model.input`, or save samples of that shape");
  }
  return shape == field.shape
             ? error
             : std::move(error).because("in the file they are " + shape_text(field.shape) +
                                        ", before the transforms");
}

/// The numbers choose rows of a table; reading beside it would fail in the middle of training.
Result<void> check_rows(const Field& field,
                        const Expectation::Input& input,
                        std::int64_t samples,
                        const std::string& place) {
  if (!input.rows || field.type != ElementType::kInt64) {
    return {};
  }
  const std::size_t count = field.bytes.size() / sizeof(std::int64_t);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, field.bytes.data() + i * sizeof(value), sizeof(value));
    if (value < 0 || value >= *input.rows) {
      const std::size_t width = count / static_cast<std::size_t>(samples);
      return make_error("H0406",
                        "number " + std::to_string(value) + " of sample " +
                            std::to_string(i / width) + ", place " + std::to_string(i % width) +
                            " is outside [0, " + std::to_string(*input.rows) + ")")
          .at(place)
          .because("input `" + printable(input.name) +
                   "` chooses rows of an embedding table, which has " +
                   std::to_string(*input.rows))
          .fix(value < 0 ? "number rows from 0; padding needs a row of its own"
                         : "give the model a table of at least " + std::to_string(value + 1) +
                               " rows, or mend the file");
    }
  }
  return {};
}

Result<void> check_input(const Field& field,
                         const Expectation::Input& input,
                         std::span<const Transform> transforms,
                         std::int64_t samples,
                         const std::string& place) {
  const ElementType type = fed_type(field);
  std::vector<std::int64_t> shape = field.shape;
  if (field.is_image) {
    auto after = transformed(field, transforms);
    if (!after) {
      return std::move(after).error().at(place);
    }
    shape = *std::move(after);
  }
  if (type != input.type) {
    return make_error("H0409",
                      "input `" + printable(input.name) + "` takes " + name_of(input.type) +
                          ", the file holds " + name_of(type))
        .at(place)
        .because(why_of_type(field));
  }
  if (shape != input.shape && field.is_text) {
    return wrong_block(field, input).at(place);
  }
  if (shape != input.shape) {
    return wrong_shape(field, shape, input).at(place);
  }
  if (field.is_text) {
    return check_embedded(field, input, place);
  }
  HYDRO_TRY_VOID(check_rows(field, input, samples, place));
  return field.type == ElementType::kFloat32 ? check_finite(field.bytes, samples, place)
                                             : Result<void>();
}

/// "sample 3", and where a sample has several labels "sample 3, place 17".
std::string place_of_label(std::int64_t index, const Target& target) {
  std::int64_t width = 1;
  for (const std::int64_t size : target.shape) {
    width *= size;
  }
  const std::string sample = "sample " + std::to_string(index / width);
  return target.shape.empty() ? sample : sample + ", place " + std::to_string(index % width);
}

Error wrong_label_shape(const Dataset& dataset, const std::vector<std::int64_t>& wanted) {
  const std::string shape = shape_text(dataset.target.shape);
  if (wanted.empty()) {
    return make_error("H0410", "the target holds whole numbers of shape " + shape + " a sample")
        .because("class labels are one number a sample")
        .fix("save one number a sample, shape [" + std::to_string(dataset.size) +
             "], or floats for a regression");
  }
  return make_error("H0407",
                    "labels are " + shape + " a sample, the model scores " + shape_text(wanted))
      .because("every score needs a label and every label a score")
      .fix(dataset.is_text()
               ? "let the model give one score a token and vocabulary entry: [*, " +
                     std::to_string(dataset.target.shape.front()) + ", vocabulary]"
               : "save one label a token, already shifted: the token that comes next");
}

Result<void> check_labels(const Dataset& dataset,
                          const Expectation& expectation,
                          std::int64_t classes,
                          const std::string& place) {
  const Target& target = dataset.target;
  if (target.classes.empty() && !dataset.is_text()) {
    return make_error("H0409", "the target holds floats, this task needs whole class numbers")
        .at(place);
  }
  if (target.shape != expectation.label_shape) {
    return wrong_label_shape(dataset, expectation.label_shape).at(place);
  }
  if (dataset.is_text()) {
    return check_scored(dataset.inputs.front(), classes, place);
  }
  const auto wrong = std::ranges::find_if(
      target.classes, [&](std::int64_t label) { return label < 0 || label >= classes; });
  if (wrong == target.classes.end()) {
    return {};
  }
  const auto index = wrong - target.classes.begin();
  return make_error("H0406",
                    "label " + std::to_string(*wrong) + " of " + place_of_label(index, target) +
                        " is outside [0, " + std::to_string(classes) + ")")
      .at(place)
      .because("the model has " + std::to_string(classes) + " outputs");
}

Result<void> check_target(const Dataset& dataset,
                          const Expectation& expectation,
                          const std::string& place) {
  const Target& target = dataset.target;
  if (expectation.classes) {
    return check_labels(dataset, expectation, *expectation.classes, place);
  }
  if (expectation.target_shape && !target.classes.empty()) {
    return make_error("H0409", "the target holds whole numbers, a regression needs floats")
        .at(place);
  }
  if (expectation.target_shape && target.shape != *expectation.target_shape) {
    return make_error("H0407",
                      "targets are " + shape_text(target.shape) + ", the model's output is " +
                          shape_text(*expectation.target_shape))
        .at(place);
  }
  return check_finite(std::as_bytes(std::span(target.values)), dataset.size, place);
}

/// The first few of `names` that `others` lacks, for messages.
std::string only_in(const std::vector<std::string>& names,
                    const std::vector<std::string>& others) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> only;
  for (const std::string& name : names) {
    if (std::ranges::find(others, name) == others.end()) {
      only.push_back("`" + printable(name) + "`");
    }
  }
  const std::size_t count = only.size();
  only.resize(std::min(count, kShown));
  return only.empty() ? "none"
                      : join(only, ", ") +
                            (count > kShown ? " and " + std::to_string(count - kShown) + " more"
                                            : std::string());
}

}  // namespace

Result<void> check_same_classes(const Dataset& train,
                                const Dataset& other,
                                const std::string& what) {
  const std::vector<std::string>& left = train.target.class_names;
  const std::vector<std::string>& right = other.target.class_names;
  if (left.empty() || right.empty() || left == right) {
    return {};
  }
  return make_error("H0423", "train and " + what + " have different classes")
      .at(place_of(what, other.target.file))
      .because("only in train: " + only_in(left, right) + "; only in " + what + ": " +
               only_in(right, left));
}

Result<void> check_dataset(const Dataset& dataset,
                           std::span<const Transform> transforms,
                           const Expectation& expectation,
                           Use use,
                           const std::string& what) {
  HYDRO_CHECK(!expectation.inputs.empty(), "a model without inputs");
  HYDRO_TRY_VOID(check_size(dataset, expectation, use, what));
  HYDRO_TRY_VOID(check_names(dataset, expectation, what));
  if (!transforms.empty() && std::ranges::none_of(dataset.inputs, &Field::is_image)) {
    return make_error("H0411", "the data hold no images to transform")
        .at(place_of(what, dataset.inputs.front().file));
  }
  const std::vector<Transform> kept = acting(transforms, use);
  for (const auto& input : expectation.inputs) {
    const Field& field = *find_field(dataset, expectation, input.name);
    HYDRO_TRY_VOID(check_input(field, input, kept, dataset.size, place_of(what, field.file)));
  }
  if (expectation.masking) {
    HYDRO_TRY_VOID(check_mask(
        *expectation.masking, expectation.inputs.front(), place_of(what, dataset.target.file)));
  }
  return check_target(dataset, expectation, place_of(what, dataset.target.file));
}

}  // namespace hydro::data
