#include "hydro/pt2/manifest_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/schema.h"
#include "hydro/pt2/archive.h"
#include "hydro/pt2/field.h"

namespace hydro::pt2 {

namespace {

constexpr std::int64_t kFormat = 1;

Error mismatch(const std::string& what, const std::string& where) {
  return make_error("H0253", what).at(printable(where));
}

Result<ir::DType> named_dtype(const Field& entry) {
  HYDRO_TRY(const std::string name, entry.text("dtype"));
  const std::optional<ir::DType> dtype = ir::find_dtype(name);
  if (!dtype) {
    return make_error("H0246", "dtype `" + printable(name.substr(0, 40)) + "` is not supported")
        .at(entry.where());
  }
  return *dtype;
}

Result<std::vector<std::string>> texts(const Field& list) {
  HYDRO_TRY(const std::vector<Field> items, list.items());
  std::vector<std::string> result;
  for (const Field& item : items) {
    HYDRO_TRY(std::string text, item.text());
    result.push_back(std::move(text));
  }
  return result;
}

// ---- inputs and outputs ----

Result<ManifestInput> read_input(const Field& field) {
  ManifestInput input;
  HYDRO_TRY(input.name, field.text("name"));
  HYDRO_TRY(input.dtype, named_dtype(field));
  HYDRO_TRY(input.batch_axis, field.integer("batch_axis"));
  HYDRO_TRY(const std::vector<Field> sizes, field.items("shape"));
  for (const Field& size : sizes) {
    std::int64_t number = -1;
    if (!size.is_null()) {
      HYDRO_TRY(number, size.integer());
    }
    if (number < 0 && !size.is_null()) {
      return size.wrong("a size that is not negative");
    }
    input.shape.push_back(number);
  }
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  if (input.batch_axis < 0 || input.batch_axis >= rank ||
      input.shape[static_cast<std::size_t>(input.batch_axis)] != -1) {
    return field.wrong("a batch axis whose size is null");
  }
  return input;
}

Result<void> read_inputs(const Field& root, ReadManifest& out) {
  HYDRO_TRY(const std::vector<Field> inputs, root.items("inputs"));
  for (const Field& field : inputs) {
    HYDRO_TRY(ManifestInput input, read_input(field));
    out.ends.inputs.push_back(input.name);
    out.manifest.inputs.push_back(std::move(input));
  }
  return {};
}

Result<void> read_outputs(const Field& root, ReadManifest& out) {
  constexpr std::int64_t kMost = 10'000;
  HYDRO_TRY(const std::vector<Field> outputs, root.items("outputs"));
  for (const Field& field : outputs) {
    HYDRO_TRY(const std::string name, field.text("name"));
    HYDRO_TRY(const std::int64_t index, field.integer("index"));
    if (name.empty() || index < 0 || index >= kMost) {
      return field.wrong("an output's name and index");
    }
    const auto place = static_cast<std::size_t>(index);
    out.ends.outputs.resize(std::max(out.ends.outputs.size(), place + 1));
    out.ends.outputs[place] = name;
    out.manifest.outputs.push_back(name);
  }
  return {};
}

// ---- state ----

struct StateRow {
  std::string_view name;
  ir::StateKind kind;
};

constexpr std::array kStateKinds = {
    StateRow{.name = "parameter", .kind = ir::StateKind::kParameter},
    StateRow{.name = "frozen", .kind = ir::StateKind::kFrozen},
    StateRow{.name = "buffer", .kind = ir::StateKind::kBuffer},
    StateRow{.name = "nonpersistent", .kind = ir::StateKind::kNonPersistent},
};

Result<ir::StateEntry> read_entry(const Field& field) {
  ir::StateEntry entry;
  HYDRO_TRY(entry.name, field.text("name"));
  HYDRO_TRY(entry.dtype, named_dtype(field));
  HYDRO_TRY(const std::string kind, field.text("kind"));
  const auto* row = std::ranges::find(kStateKinds, kind, &StateRow::name);
  if (row == kStateKinds.end()) {
    return field.wrong("a kind of state (parameter, frozen, buffer, nonpersistent)");
  }
  entry.kind = row->kind;
  HYDRO_TRY(const std::vector<Field> sizes, field.items("shape"));
  for (const Field& size : sizes) {
    HYDRO_TRY(const std::int64_t number, size.integer());
    if (number < 0) {
      return size.wrong("a size that is not negative");
    }
    entry.shape.push_back(number);
  }
  HYDRO_TRY(const Field tie, field.at("tie"));
  if (!tie.is_null()) {
    HYDRO_TRY(entry.tie, tie.text());
  }
  return entry;
}

// A tie names an entry that holds its storage itself and has the same shape and type.
Result<void> check_ties(ReadManifest& out) {
  for (const ir::StateEntry& entry : out.state) {
    if (entry.tie.empty()) {
      continue;
    }
    const auto holder = std::ranges::find(out.state, entry.tie, &ir::StateEntry::name);
    if (holder == out.state.end() || !holder->tie.empty() || holder->shape != entry.shape ||
        holder->dtype != entry.dtype) {
      return mismatch("`" + entry.name + "` is tied to something else than it is",
                      "manifest state");
    }
    out.passes.ties.emplace(entry.name, entry.tie);
  }
  return {};
}

Result<void> read_state(const Field& root, ReadManifest& out) {
  HYDRO_TRY(const std::vector<Field> fields, root.items("state"));
  std::vector<std::string> names;
  for (const Field& field : fields) {
    HYDRO_TRY(ir::StateEntry entry, read_entry(field));
    entry.index = static_cast<std::int64_t>(out.state.size());
    names.push_back(entry.name);
    out.state.push_back(std::move(entry));
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) {
    return mismatch("a state entry is there twice", "manifest state");
  }
  return check_ties(out);
}

// ---- initialisation ----

Result<ir::Law> read_law(const Field& field) {
  ir::Law law;
  HYDRO_TRY(const std::string name, field.text("law"));
  const std::optional<ir::LawKind> kind = ir::find_law(name);
  if (!kind) {
    return field.wrong("a law (uniform, normal, truncated_normal, constant)");
  }
  law.kind = *kind;
  HYDRO_TRY(const std::vector<Field> rows, field.items("rows"));
  if (rows.size() != 2) {
    return field.wrong("rows [first, end]");
  }
  HYDRO_TRY(law.row_begin, rows[0].integer());
  HYDRO_TRY(law.row_end, rows[1].integer());

  struct Number {
    std::string_view key;
    double* value;
  };

  for (const Number& number : std::to_array<Number>({{.key = "mean", .value = &law.mean},
                                                     {.key = "std", .value = &law.std},
                                                     {.key = "low", .value = &law.low},
                                                     {.key = "high", .value = &law.high},
                                                     {.key = "value", .value = &law.value}})) {
    if (!field.has(number.key)) {
      continue;
    }
    HYDRO_TRY(const Field held, field.at(number.key));
    HYDRO_TRY(*number.value, held.number());
    if (!std::isfinite(*number.value)) {
      return held.wrong("a finite number");
    }
  }
  return law;
}

Result<std::vector<ir::Law>> read_laws(const Field& list, const ir::StateEntry& entry) {
  HYDRO_TRY(const std::vector<Field> fields, list.items());
  const std::int64_t rows = entry.shape.empty() ? 1 : entry.shape.front();
  std::vector<ir::Law> laws;
  std::int64_t next = 0;
  for (const Field& field : fields) {
    HYDRO_TRY(const ir::Law law, read_law(field));
    if (law.row_begin != next || law.row_end < law.row_begin) {
      return mismatch("the laws of `" + entry.name + "` leave out rows or overlap",
                      field.where());
    }
    next = law.row_end;
    laws.push_back(law);
  }
  if (next != rows) {
    return mismatch("the laws of `" + entry.name + "` cover " + std::to_string(next) + " of " +
                        std::to_string(rows) + " rows",
                    list.where());
  }
  return laws;
}

Result<void> read_initialization(const Field& root, ReadManifest& out) {
  HYDRO_TRY(const Field all, root.at("initialization"));
  for (ir::StateEntry& entry : out.state) {
    if (entry.kind != ir::StateKind::kParameter || !entry.tie.empty()) {
      continue;
    }
    if (!all.has(entry.name)) {
      return mismatch("parameter `" + entry.name + "` has no initialisation law", all.where());
    }
    HYDRO_TRY(const Field list, all.at(entry.name));
    HYDRO_TRY(entry.laws, read_laws(list, entry));
  }
  return {};
}

// ---- the rest ----

Result<void> read_schemas(const Field& root, ReadManifest& out) {
  HYDRO_TRY(const Field schemas, root.at("schemas"));
  HYDRO_TRY(const auto members, schemas.members());
  for (const auto& [op, field] : members) {
    HYDRO_TRY(const std::string text, field.text());
    HYDRO_TRY(ir::OpSchema schema, ir::parse_schema(text));
    out.passes.schemas.emplace(op, std::move(schema));
  }
  return {};
}

Result<void> read_callable(const Field& root, Manifest& manifest) {
  HYDRO_TRY(const Field callable, root.at("callable"));
  HYDRO_TRY(manifest.callable, callable.text("target"));
  HYDRO_TRY(const Field args, callable.at("args"));
  HYDRO_TRY(const Field kwargs, callable.at("kwargs"));
  manifest.arguments = Json({{"args", args.json()}, {"kwargs", kwargs.json()}})
                           .dump(-1, ' ', false, Json::error_handler_t::replace);
  HYDRO_TRY(const Field versions, root.at("versions"));
  HYDRO_TRY(manifest.torch_version, versions.text("torch"));
  HYDRO_TRY(const Field warnings, root.at("warnings"));
  HYDRO_TRY(manifest.warnings, texts(warnings));
  return {};
}

}  // namespace

Result<ReadManifest> read_manifest(const Json& json) {
  const Field root(json, "manifest");
  HYDRO_TRY(const std::int64_t format, root.integer("format"));
  if (format > kFormat) {
    return make_error("H0240",
                      "the manifest's format " + std::to_string(format) + " is newer than " +
                          std::to_string(kFormat));
  }
  if (format < 1) {
    return root.wrong("format 1");
  }
  ReadManifest out;
  HYDRO_TRY_VOID(read_callable(root, out.manifest));
  HYDRO_TRY_VOID(read_inputs(root, out));
  HYDRO_TRY_VOID(read_outputs(root, out));
  HYDRO_TRY_VOID(read_state(root, out));
  HYDRO_TRY_VOID(read_initialization(root, out));
  HYDRO_TRY_VOID(read_schemas(root, out));
  return out;
}

Result<std::string> choose_output(const std::vector<std::string>& outputs,
                                  const std::string& wanted) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(outputs, name) != outputs.end();
  };
  if (!wanted.empty() && !has(wanted)) {
    const std::string near = nearest(wanted, outputs);
    Error error = make_error("H0247", "the model has no output `" + printable(wanted) + "`")
                      .because("its outputs are " + join(outputs, ", "));
    return near.empty() ? error : std::move(error).fix("did you mean `" + near + "`?");
  }
  if (!wanted.empty()) {
    return wanted;
  }
  if (outputs.size() == 1) {
    return outputs.front();
  }
  for (const std::string_view usual : {"logits", "loss"}) {
    if (has(usual)) {
      return std::string(usual);
    }
  }
  return make_error(
             "H0247",
             "the model has " + std::to_string(outputs.size()) + " outputs and none is named")
      .because("its outputs are " + join(outputs, ", "));
}

}  // namespace hydro::pt2
