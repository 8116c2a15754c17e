// The `model:` section.
#include <algorithm>
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
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

constexpr auto kInitializations = std::to_array<std::pair<std::string_view, Initialization>>(
    {{"recorded", Initialization::kRecorded}, {"standard", Initialization::kStandard}});

constexpr auto kRoles = std::to_array<std::string_view>(
    {"input", "hidden", "output", "vector", "output_bias", "none"});

constexpr auto kDtypes = std::to_array<std::string_view>({"float32",
                                                          "float64",
                                                          "float16",
                                                          "bfloat16",
                                                          "int64",
                                                          "int32",
                                                          "int16",
                                                          "int8",
                                                          "uint8",
                                                          "bool"});

constexpr std::string_view kInputForm =
    "such as float32[*, 3, 32, 32], with one `*` for the batch";

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

/// "float32[*,3,32,32]"; nothing when it has another form.
std::optional<InputSpec> parse_input(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || !text.ends_with(']')) {
    return std::nullopt;
  }
  InputSpec input;
  input.dtype = text.substr(0, bracket);
  if (std::ranges::find(kDtypes, input.dtype) == kDtypes.end()) {
    return std::nullopt;
  }
  for (const std::string& part :
       split_at_commas(text.substr(bracket + 1, text.size() - bracket - 2))) {
    const auto size = as_integer(make_scalar(part));
    if (part != "*" && (!size || *size < 1)) {
      return std::nullopt;
    }
    input.shape.push_back(part == "*" ? InputSpec::kBatch : *size);
  }
  return std::ranges::count(input.shape, InputSpec::kBatch) == 1 ? std::optional(input)
                                                                 : std::nullopt;
}

Result<void> add_input(const Reader& reader,
                       const Node& node,
                       std::string name,
                       ModelSection& out) {
  auto input = node.is_scalar() ? parse_input(without_spaces(node.text)) : std::nullopt;
  if (!input) {
    return reader.wrong(node, "input", kInputForm);
  }
  input->name = std::move(name);
  out.inputs.push_back(*std::move(input));
  return {};
}

Result<void> read_input(const Reader& reader,
                        const Node& node,
                        const Row<ModelSection>& /*row*/,
                        ModelSection& out) {
  if (!node.is_map() || node.items.empty()) {
    return add_input(reader, node, {}, out);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    HYDRO_TRY_VOID(add_input(reader, node.items[i], node.keys[i].text, out));
  }
  return {};
}

bool is_identifier(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  const bool starts_well = !text.empty() && (text[0] < '0' || text[0] > '9');
  return starts_well && text.find_first_not_of(kLetters) == std::string_view::npos;
}

/// "./my_model.py:build" names a file, "package.module:callable" a module.
struct ExportTarget {
  std::string module;
  std::string callable;

  [[nodiscard]] bool is_file() const { return module.ends_with(".py"); }
};

std::optional<ExportTarget> parse_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  ExportTarget target{.module = text.substr(0, colon), .callable = text.substr(colon + 1)};
  const bool good =
      is_identifier(target.callable) && (target.is_file() || is_identifier(target.module));
  return good ? std::optional(target) : std::nullopt;
}

std::string absolute_target(const Reader& reader, const ExportTarget& target) {
  const std::string module =
      target.is_file() ? reader.absolute(target.module).string() : target.module;
  return module + ':' + target.callable;
}

Result<void> read_export(const Reader& reader,
                         const Node& node,
                         const Row<ModelSection>& row,
                         ModelSection& out) {
  const auto target = node.is_scalar() ? parse_target(node.text) : std::nullopt;
  if (!target) {
    return reader.wrong(node, row.key, row.type);
  }
  out.export_target = absolute_target(reader, *target);
  return {};
}

Result<void> read_args(const Reader& reader,
                       const Node& node,
                       const Row<ModelSection>& row,
                       ModelSection& out) {
  if (!node.is_sequence()) {
    return reader.wrong(node, row.key, row.type);
  }
  HYDRO_TRY(out.args, to_json(reader, node));
  return {};
}

Result<void> read_forward(const Reader& reader,
                          const Node& node,
                          const Row<ModelSection>& row,
                          ModelSection& out) {
  if (!node.is_map()) {
    return reader.wrong(node, row.key, row.type);
  }
  HYDRO_TRY(out.forward, to_json(reader, node));
  return {};
}

/// The values come with the configuration; here only the form counts.
Result<void> read_kwargs(const Reader& reader,
                         const Node& node,
                         const Row<ModelSection>& row,
                         ModelSection& /*out*/) {
  return node.is_map() ? Result<void>() : reader.wrong(node, row.key, row.type);
}

Result<void> read_roles(const Reader& reader,
                        const Node& node,
                        const Row<ModelSection>& row,
                        ModelSection& out) {
  if (!node.is_map()) {
    return reader.wrong(node, row.key, row.type);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& role = node.items[i];
    if (!role.is_scalar() || std::ranges::find(kRoles, role.text) == kRoles.end()) {
      return reader.wrong(
          role, node.keys[i].text, "a role: input, hidden, output, vector, output_bias, none");
    }
    out.roles.insert_or_assign(node.keys[i].text, role.text);
  }
  return {};
}

constexpr auto kRows = std::to_array<Row<ModelSection>>({
    {"export",
     "package.module:callable or ./file.py:callable",
     "",
     "the Python callable that returns the model",
     &read_export},
    {"file",
     "a path",
     "",
     "an archive made by `hydro export`",
     &read_path<&ModelSection::file, ModelSection>},
    {"args", "a list", "", "positional arguments of the callable", &read_args},
    {"kwargs",
     "a mapping",
     "",
     "keyword arguments of the callable; may be searched",
     &read_kwargs},
    {"input", kInputForm, "", "the model's data inputs", &read_input},
    {"output",
     "an output's name",
     "",
     "which output, when there are several",
     &read_text<&ModelSection::output, ModelSection>},
    {"forward",
     "a mapping",
     "",
     "forward arguments that are no tensors, baked in",
     &read_forward},
    {"roles",
     "a mapping",
     "",
     "override of a found role, by parameter name or pattern",
     &read_roles},
    {"initialization",
     "recorded or standard",
     "recorded",
     "standard: where the model's own cannot be recorded",
     &read_word<&ModelSection::initialization, kInitializations, ModelSection>},
    {"python",
     "a path",
     "",
     "interpreter with the user's packages",
     &read_path<&ModelSection::python, ModelSection>},
});

/// Keys that say how to call the exporter make no sense beside an archive that it already made.
Result<void> check_source(const Reader& reader, const Node& node, const ModelSection& model) {
  if (model.file.empty() == model.export_target.empty()) {
    const bool both = !model.file.empty();
    return reader
        .error(
            node,
            both ? "H0109" : "H0106",
            both ? "`model` has both `export` and `file`" : "`model` needs `export` or `file`")
        .fix(both ? "keep one of them"
                  : "name the callable: export: torchvision.models:resnet18");
  }
  for (const std::string_view key : {"args", "kwargs", "forward", "output", "python"}) {
    if (!model.file.empty() && node.find(key) != nullptr) {
      return reader
          .error(*node.find(key), "H0109", "`" + std::string(key) + "` stands beside `file`")
          .because("the archive was exported with its own arguments")
          .fix("remove it, or use `export` instead of `file`");
    }
  }
  if (model.file.empty() && model.inputs.empty()) {
    return reader.error(node, "H0106", "`model` needs `input`")
        .fix("write its type and shape: input: float32[*, 3, 32, 32]");
  }
  return {};
}

}  // namespace

std::string InputSpec::text() const {
  std::vector<std::string> sizes;
  sizes.reserve(shape.size());
  for (const std::int64_t size : shape) {
    sizes.push_back(size == kBatch ? "*" : std::to_string(size));
  }
  return (name.empty() ? "" : name + '=') + dtype + '[' + join(sizes, ",") + ']';
}

Result<ModelSection> read_model(const Reader& reader, const Node& node) {
  ModelSection model;
  HYDRO_TRY_VOID(
      read_rows(reader, node, "model", std::span<const Row<ModelSection>>(kRows), model));
  HYDRO_TRY_VOID(check_source(reader, node, model));
  return model;
}

void complete_model(const Reader& reader, Node& node) {
  fill_defaults(node, std::span<const Row<ModelSection>>(kRows));
  for (const std::string_view key : {"file", "python"}) {
    if (Node* path = node.find(key); path != nullptr) {
      path->text = reader.absolute(path->text).string();
    }
  }
  if (Node* target = node.find("export"); target != nullptr) {
    const auto parsed = parse_target(target->text);
    HYDRO_CHECK(parsed.has_value(), "a checked target is no target: " + target->text);
    target->text = absolute_target(reader, *parsed);
  }
}

void list_model(std::vector<KnownKey>& keys) {
  list_rows("model", std::span<const Row<ModelSection>>(kRows), keys);
}

}  // namespace hydro::job
