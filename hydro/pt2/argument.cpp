#include "hydro/pt2/argument.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/pt2/field.h"
#include "hydro/pt2/tensor_meta.h"

namespace hydro::pt2 {

namespace {

using MaybeArgument = std::optional<ir::Argument>;

Result<ir::ValueId> value_named(const Field& name, const ValueNames& values) {
  HYDRO_TRY(const std::string text, name.text());
  const auto found = values.find(text);
  if (found == values.end()) {
    return make_error("H0244",
                      "value `" + printable(text.substr(0, 80)) +
                          "` is not a tensor or integer of the graph")
        .at(name.where());
  }
  return found->second;
}

Result<ir::ValueId> tensor_value(const Field& tensor, const ValueNames& values) {
  HYDRO_TRY(const Field name, tensor.at("name"));
  return value_named(name, values);
}

// {"as_int": 3} or {"as_name": "sym_size_int"}
Result<ir::IntItem> int_item(const Field& item, const ValueNames& values) {
  HYDRO_TRY(const auto member, item.only_member());
  if (member.first == "as_name") {
    HYDRO_TRY(const ir::ValueId value, value_named(member.second, values));
    return ir::IntItem(value);
  }
  HYDRO_TRY(const std::int64_t constant, member.second.integer());
  return ir::IntItem(constant);
}

Result<MaybeArgument> read_none(const Field& /*field*/, const ValueNames& /*values*/) {
  return MaybeArgument(ir::None{});
}

Result<MaybeArgument> drop(const Field& /*field*/, const ValueNames& /*values*/) {
  return MaybeArgument();
}

Result<MaybeArgument> read_tensor(const Field& field, const ValueNames& values) {
  HYDRO_TRY(const ir::ValueId value, tensor_value(field, values));
  return MaybeArgument(value);
}

Result<MaybeArgument> read_int(const Field& field, const ValueNames& /*values*/) {
  HYDRO_TRY(const std::int64_t value, field.integer());
  return MaybeArgument(value);
}

Result<MaybeArgument> read_float(const Field& field, const ValueNames& /*values*/) {
  HYDRO_TRY(const double value, field.number());
  return MaybeArgument(value);
}

Result<MaybeArgument> read_bool(const Field& field, const ValueNames& /*values*/) {
  HYDRO_TRY(const bool value, field.boolean());
  return MaybeArgument(value);
}

Result<MaybeArgument> read_text(const Field& field, const ValueNames& /*values*/) {
  HYDRO_TRY(std::string value, field.text());
  return MaybeArgument(std::move(value));
}

Result<MaybeArgument> read_scalar_type(const Field& field, const ValueNames& /*values*/) {
  HYDRO_TRY(const ir::DType value, read_dtype(field));
  return MaybeArgument(value);
}

Result<MaybeArgument> read_sym_int(const Field& field, const ValueNames& values) {
  HYDRO_TRY(const ir::IntItem item, int_item(field, values));
  return std::visit([](auto held) { return MaybeArgument(held); }, item);
}

// {"as_float": 0.5} or {"as_bool": true}; a computed one ("as_name") is no argument that a
// graph can hold.
Result<MaybeArgument> read_sym_constant(const Field& field, const ValueNames& values) {
  HYDRO_TRY(const auto member, field.only_member());
  if (member.first == "as_float") {
    return read_float(member.second, values);
  }
  if (member.first == "as_bool") {
    return read_bool(member.second, values);
  }
  return make_error("H0244", "a number or condition that is computed in the graph")
      .at(field.where());
}

template <class Item, class ReadItem>
Result<MaybeArgument> read_list(const Field& field, const ReadItem& read_item) {
  HYDRO_TRY(const std::vector<Field> fields, field.items());
  std::vector<Item> result;
  for (const Field& item : fields) {
    HYDRO_TRY(Item read, read_item(item));
    result.push_back(std::move(read));
  }
  return MaybeArgument(std::move(result));
}

Result<MaybeArgument> read_ints(const Field& field, const ValueNames& /*values*/) {
  return read_list<ir::IntItem>(field, [](const Field& item) -> Result<ir::IntItem> {
    HYDRO_TRY(const std::int64_t value, item.integer());
    return ir::IntItem(value);
  });
}

Result<MaybeArgument> read_sym_ints(const Field& field, const ValueNames& values) {
  return read_list<ir::IntItem>(field,
                                [&](const Field& item) { return int_item(item, values); });
}

Result<MaybeArgument> read_floats(const Field& field, const ValueNames& /*values*/) {
  return read_list<double>(field, [](const Field& item) { return item.number(); });
}

Result<MaybeArgument> read_bools(const Field& field, const ValueNames& /*values*/) {
  return read_list<bool>(field, [](const Field& item) { return item.boolean(); });
}

Result<MaybeArgument> read_tensors(const Field& field, const ValueNames& values) {
  return read_list<ir::ValueId>(field,
                                [&](const Field& item) { return tensor_value(item, values); });
}

// {"as_tensor": {...}} or {"as_none": true}
Result<std::optional<ir::ValueId>> optional_tensor(const Field& field,
                                                   const ValueNames& values) {
  HYDRO_TRY(const auto member, field.only_member());
  if (member.first != "as_tensor") {
    return std::optional<ir::ValueId>();
  }
  HYDRO_TRY(const ir::ValueId value, tensor_value(member.second, values));
  return std::optional(value);
}

Result<MaybeArgument> read_optional_tensors(const Field& field, const ValueNames& values) {
  return read_list<std::optional<ir::ValueId>>(
      field, [&](const Field& item) { return optional_tensor(item, values); });
}

Result<MaybeArgument> read_optional_tensor(const Field& field, const ValueNames& values) {
  HYDRO_TRY(const std::optional<ir::ValueId> value, optional_tensor(field, values));
  return value ? MaybeArgument(*value) : MaybeArgument(ir::None{});
}

Result<MaybeArgument> refuse_graph(const Field& field, const ValueNames& /*values*/) {
  return make_error("H0245", "a graph is an argument").at(field.where());
}

Result<MaybeArgument> refuse_object(const Field& field, const ValueNames& /*values*/) {
  return make_error("H0237", "a script object is an argument").at(field.where());
}

struct TagRow {
  std::string_view tag;
  Result<MaybeArgument> (*read)(const Field& field, const ValueNames& values);
};

constexpr std::array kTags = {
    TagRow{.tag = "as_none", .read = &read_none},
    TagRow{.tag = "as_tensor", .read = &read_tensor},
    TagRow{.tag = "as_tensors", .read = &read_tensors},
    TagRow{.tag = "as_int", .read = &read_int},
    TagRow{.tag = "as_ints", .read = &read_ints},
    TagRow{.tag = "as_float", .read = &read_float},
    TagRow{.tag = "as_floats", .read = &read_floats},
    TagRow{.tag = "as_string", .read = &read_text},
    TagRow{.tag = "as_sym_int", .read = &read_sym_int},
    TagRow{.tag = "as_sym_ints", .read = &read_sym_ints},
    TagRow{.tag = "as_sym_float", .read = &read_sym_constant},
    TagRow{.tag = "as_sym_bool", .read = &read_sym_constant},
    TagRow{.tag = "as_scalar_type", .read = &read_scalar_type},
    TagRow{.tag = "as_memory_format", .read = &drop},
    TagRow{.tag = "as_layout", .read = &drop},
    TagRow{.tag = "as_device", .read = &drop},
    TagRow{.tag = "as_bool", .read = &read_bool},
    TagRow{.tag = "as_bools", .read = &read_bools},
    TagRow{.tag = "as_optional_tensor", .read = &read_optional_tensor},
    TagRow{.tag = "as_optional_tensors", .read = &read_optional_tensors},
    TagRow{.tag = "as_graph", .read = &refuse_graph},
    TagRow{.tag = "as_custom_obj", .read = &refuse_object},
};

}  // namespace

Result<std::optional<ir::Argument>> read_argument(const Field& field,
                                                  const ValueNames& values) {
  HYDRO_TRY(const auto member, field.only_member());
  const auto* row = std::ranges::find(kTags, member.first, &TagRow::tag);
  if (row == kTags.end()) {
    return make_error(
               "H0244",
               "argument kind `" + printable(member.first.substr(0, 80)) + "` is not known")
        .at(field.where());
  }
  return row->read(member.second, values);
}

}  // namespace hydro::pt2
