// The `data:` section.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

constexpr std::int64_t kLongestBlock = 1 << 20;
constexpr std::string_view kBytes = "bytes";  // the tokenizer that is no file

// ---- One split ----

struct IdxSplit {
  IdxFiles files;
  std::optional<std::int64_t> limit;
};

struct ArraySplit {
  ArrayFiles files;
  std::optional<std::int64_t> limit;
};

struct TextSplit {
  TextFile file;
  std::optional<std::int64_t> limit;
};

Result<void> read_images(const Reader& reader,
                         const Node& node,
                         const Row<IdxSplit>& row,
                         IdxSplit& out) {
  return node.is_scalar() && !node.text.empty()
             ? (out.files.images = reader.absolute(node.text), Result<void>())
             : reader.wrong(node, row.key, row.type);
}

Result<void> read_labels(const Reader& reader,
                         const Node& node,
                         const Row<IdxSplit>& row,
                         IdxSplit& out) {
  return node.is_scalar() && !node.text.empty()
             ? (out.files.labels = reader.absolute(node.text), Result<void>())
             : reader.wrong(node, row.key, row.type);
}

Result<void> add_array(const Reader& reader,
                       const Node& node,
                       std::string name,
                       ArraySplit& out) {
  const bool known =
      node.is_scalar() && (node.text.ends_with(".npy") || node.text.ends_with(".safetensors"));
  if (!known) {
    return reader.wrong(node, "inputs", "a .npy or .safetensors file");
  }
  out.files.inputs.insert_or_assign(std::move(name), reader.absolute(node.text));
  return {};
}

Result<void> read_inputs(const Reader& reader,
                         const Node& node,
                         const Row<ArraySplit>& row,
                         ArraySplit& out) {
  if (!node.is_map()) {
    return add_array(reader, node, {}, out);
  }
  if (node.items.empty()) {
    return reader.wrong(node, row.key, row.type);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    HYDRO_TRY_VOID(add_array(reader, node.items[i], node.keys[i].text, out));
  }
  return {};
}

Result<void> read_target(const Reader& reader,
                         const Node& node,
                         const Row<ArraySplit>& row,
                         ArraySplit& out) {
  const bool known =
      node.is_scalar() && (node.text.ends_with(".npy") || node.text.ends_with(".safetensors"));
  if (!known) {
    return reader.wrong(node, row.key, row.type);
  }
  out.files.target = reader.absolute(node.text);
  return {};
}

Result<void> read_text_path(const Reader& reader,
                            const Node& node,
                            const Row<TextSplit>& row,
                            TextSplit& out) {
  return node.is_scalar() && !node.text.empty()
             ? (out.file.path = reader.absolute(node.text), Result<void>())
             : reader.wrong(node, row.key, row.type);
}

Result<void> read_tokenizer(const Reader& reader,
                            const Node& node,
                            const Row<TextSplit>& row,
                            TextSplit& out) {
  if (!node.is_scalar() || node.text.empty()) {
    return reader.wrong(node, row.key, row.type);
  }
  if (node.text != kBytes) {
    out.file.tokenizer = reader.absolute(node.text);
  }
  return {};
}

Result<void> read_block(const Reader& reader,
                        const Node& node,
                        const Row<TextSplit>& row,
                        TextSplit& out) {
  const auto value = as_integer(node);
  if (!value || *value < 1 || *value > kLongestBlock) {
    return reader.wrong(node, row.key, row.type);
  }
  out.file.block = *value;
  return {};
}

constexpr auto kIdxRows = std::to_array<Row<IdxSplit>>({
    {"format", "idx", "", "how the files are written", &ignore<IdxSplit>},
    {"images", "a path", "", "IDX file of images, plain or .gz", &read_images},
    {"labels", "a path", "", "IDX file of labels, plain or .gz", &read_labels},
    {"limit",
     "an integer of at least 1",
     "",
     "the first N samples",
     &read_integer<&IdxSplit::limit, 1, IdxSplit>},
});

constexpr auto kArrayRows = std::to_array<Row<ArraySplit>>({
    {"format", "arrays", "", "how the files are written", &ignore<ArraySplit>},
    {"inputs",
     "a file, or a mapping from the model's input names to files",
     "",
     "arrays of samples, one a model input",
     &read_inputs},
    {"target", "a .npy or .safetensors file", "", "class indices or values", &read_target},
    {"limit",
     "an integer of at least 1",
     "",
     "the first N samples",
     &read_integer<&ArraySplit::limit, 1, ArraySplit>},
});

constexpr auto kTextRows = std::to_array<Row<TextSplit>>({
    {"format", "text", "", "how the file is written", &ignore<TextSplit>},
    {"path", "a path", "", "the text", &read_text_path},
    {"tokenizer",
     "bytes or a path",
     "bytes",
     "what a token is: a byte, or a piece of a sentencepiece model",
     &read_tokenizer},
    {"block",
     "an integer from 1 to 1048576",
     "128",
     "T, tokens a sample: the length of the model's input",
     &read_block},
    {"limit",
     "an integer of at least 1",
     "",
     "the first N blocks",
     &read_integer<&TextSplit::limit, 1, TextSplit>},
});

Result<Split> read_text_split(const Reader& reader, const Node& node, std::string_view name) {
  constexpr auto kNeeded = std::to_array<std::string_view>({"path"});
  TextSplit split;
  HYDRO_TRY_VOID(
      read_rows(reader, node, name, std::span<const Row<TextSplit>>(kTextRows), split));
  HYDRO_TRY_VOID(require_keys(reader, node, kNeeded));
  return Split{.files = std::move(split.file), .limit = split.limit};
}

Result<Split> read_idx(const Reader& reader, const Node& node, std::string_view name) {
  constexpr auto kNeeded = std::to_array<std::string_view>({"images", "labels"});
  IdxSplit split;
  HYDRO_TRY_VOID(
      read_rows(reader, node, name, std::span<const Row<IdxSplit>>(kIdxRows), split));
  HYDRO_TRY_VOID(require_keys(reader, node, kNeeded));
  return Split{.files = std::move(split.files), .limit = split.limit};
}

Result<Split> read_arrays(const Reader& reader, const Node& node, std::string_view name) {
  constexpr auto kNeeded = std::to_array<std::string_view>({"inputs"});  // target: by the task
  ArraySplit split;
  HYDRO_TRY_VOID(
      read_rows(reader, node, name, std::span<const Row<ArraySplit>>(kArrayRows), split));
  HYDRO_TRY_VOID(require_keys(reader, node, kNeeded));
  return Split{.files = std::move(split.files), .limit = split.limit};
}

Result<Split> read_split(const Reader& reader, const Node& node, std::string_view name) {
  if (!node.is_map()) {
    return reader.wrong(node, name, "a mapping");
  }
  const Node* format = node.find("format");
  if (format == nullptr) {
    return reader.error(node, "H0106", "`format` is missing here")
        .fix("write format: idx, arrays, image_folder, cifar_binary or text");
  }
  const std::string word = format->is_scalar() ? format->text : std::string();
  if (word == "idx") {
    return read_idx(reader, node, name);
  }
  if (word == "arrays") {
    return read_arrays(reader, node, name);
  }
  if (word == "image_folder") {
    return read_image_folder_split(reader, node, name);
  }
  if (word == "cifar_binary") {
    return read_cifar_split(reader, node, name);
  }
  if (word == "text") {
    return read_text_split(reader, node, name);
  }
  return reader.wrong(*format, "format", "idx, arrays, image_folder, cifar_binary or text");
}

// ---- The section ----

Result<void> read_train_split(const Reader& reader,
                              const Node& node,
                              const Row<DataSection>& row,
                              DataSection& out) {
  HYDRO_TRY(out.train, read_split(reader, node, row.key));
  return {};
}

template <auto Member>
Result<void> read_other_split(const Reader& reader,
                              const Node& node,
                              const Row<DataSection>& row,
                              DataSection& out) {
  HYDRO_TRY(out.*Member, read_split(reader, node, row.key));
  return {};
}

Result<void> read_transform_row(const Reader& reader,
                                const Node& node,
                                const Row<DataSection>& /*row*/,
                                DataSection& out) {
  HYDRO_TRY(out.transform, read_transforms(reader, node));
  return {};
}

constexpr auto kRows = std::to_array<Row<DataSection>>({
    {"train", "a mapping", "", "the training split", &read_train_split},
    {"val",
     "a mapping",
     "",
     "the split that trials are compared on",
     &read_other_split<&DataSection::val>},
    {"val_share",
     "a number above 0 and under 1",
     "",
     "share of `train` drawn for validation by `seed`",
     &read_number<&DataSection::val_share,
                  Limits{.low = 0, .high = 1, .low_open = true, .high_open = true},
                  DataSection>},
    {"test",
     "a mapping",
     "",
     "reported for the target only, never selected on",
     &read_other_split<&DataSection::test>},
    {"transform",
     "a list",
     "[]",
     "in the order written; random_* act in training only",
     &read_transform_row},
    {"seed",
     "an integer of at least 0",
     "1",
     "of data order, augmentation and val_share",
     &read_integer<&DataSection::seed, 0, DataSection>},
});

void make_absolute(const Reader& reader, Node& node) {
  if (node.is_scalar()) {
    node.text = reader.absolute(node.text).string();
  }
  for (Node& item : node.items) {
    item.text = reader.absolute(item.text).string();
  }
}

/// The keys of a split that name files or folders.
std::vector<std::string_view> path_keys(const Node& split) {
  const Node* format = split.find("format");
  if (format == nullptr) {
    return {};
  }
  if (format->text == "image_folder") {
    return {"path"};
  }
  if (format->text == "text") {
    return split.find("tokenizer")->text == kBytes
               ? std::vector<std::string_view>{"path"}
               : std::vector<std::string_view>{"path", "tokenizer"};
  }
  if (format->text == "cifar_binary") {
    return {"files"};  // `labels` is a word here
  }
  return {"images", "labels", "inputs", "target"};
}

}  // namespace

Result<DataSection> read_data(const Reader& reader, const Node& node) {
  DataSection data;
  HYDRO_TRY_VOID(
      read_rows(reader, node, "data", std::span<const Row<DataSection>>(kRows), data));
  constexpr auto kNeeded = std::to_array<std::string_view>({"train"});
  HYDRO_TRY_VOID(require_keys(reader, node, kNeeded));
  if (data.val && data.val_share) {
    return reader
        .error(*node.find("val_share"), "H0109", "`data` has both `val` and `val_share`")
        .fix("keep one of them");
  }
  if (!data.val && !data.val_share) {
    return reader.error(node, "H0106", "`data` needs `val` or `val_share`")
        .because("trials are compared on samples that they were not trained on")
        .fix("name a split, or write val_share: 0.1");
  }
  return data;
}

void complete_data(const Reader& reader, Node& node) {
  fill_defaults(node, std::span<const Row<DataSection>>(kRows));
  for (const std::string_view split : {"train", "val", "test"}) {
    Node* files = node.find(split);
    if (files == nullptr) {
      continue;
    }
    if (files->find("format")->text == "text") {
      fill_defaults(*files, std::span<const Row<TextSplit>>(kTextRows));
    }
    for (const std::string_view key : path_keys(*files)) {
      if (Node* path = files->find(key); path != nullptr) {
        make_absolute(reader, *path);
      }
    }
  }
}

void list_data(std::vector<KnownKey>& keys) {
  list_rows("data", std::span<const Row<DataSection>>(kRows), keys);
  list_rows("format idx", std::span<const Row<IdxSplit>>(kIdxRows), keys);
  list_rows("format arrays", std::span<const Row<ArraySplit>>(kArrayRows), keys);
  list_image_splits(keys);
  list_rows("format text", std::span<const Row<TextSplit>>(kTextRows), keys);
}

}  // namespace hydro::job
