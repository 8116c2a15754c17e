#include "hydro/pt2/field.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro::pt2 {

Error Field::wrong(std::string_view wanted) const {
  return make_error("H0243", "expected " + std::string(wanted))
      .at(printable(where_.substr(0, 300)));
}

bool Field::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

Result<Field> Field::at(std::string_view key) const {
  if (!has(key)) {
    return wrong("a field `" + std::string(key) + "`");
  }
  return Field((*value_)[key], where_ + "." + std::string(key));
}

Result<std::vector<Field>> Field::items() const {
  if (!value_->is_array()) {
    return wrong("a list");
  }
  std::vector<Field> result;
  result.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back((*value_)[i], where_ + "[" + std::to_string(i) + "]");
  }
  return result;
}

Result<std::vector<std::pair<std::string, Field>>> Field::members() const {
  if (!value_->is_object()) {
    return wrong("an object");
  }
  std::vector<std::pair<std::string, Field>> result;
  for (const auto& [key, value] : value_->items()) {
    result.emplace_back(key, Field(value, where_ + "." + key));
  }
  return result;
}

Result<std::pair<std::string, Field>> Field::only_member() const {
  if (!value_->is_object() || value_->size() != 1) {
    return wrong("an object with one field");
  }
  const auto member = value_->begin();
  return std::pair(member.key(), Field(member.value(), where_ + "." + member.key()));
}

Result<std::string> Field::text() const {
  return value_->is_string() ? Result(value_->get<std::string>()) : wrong("a text");
}

Result<std::int64_t> Field::integer() const {
  const bool too_large =
      value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value_->is_number_integer() || too_large) {
    return wrong("an integer");
  }
  return value_->get<std::int64_t>();
}

Result<bool> Field::boolean() const {
  return value_->is_boolean() ? Result(value_->get<bool>()) : wrong("true or false");
}

Result<double> Field::number() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value_->is_number()) {
    return value_->get<double>();
  }
  if (*value_ == "Infinity") {
    return kInfinity;
  }
  if (*value_ == "-Infinity") {
    return -kInfinity;
  }
  return *value_ == "NaN" ? Result(std::numeric_limits<double>::quiet_NaN())
                          : wrong("a number");
}

Result<std::string> Field::text(std::string_view key) const {
  HYDRO_TRY(const Field field, at(key));
  return field.text();
}

Result<std::int64_t> Field::integer(std::string_view key) const {
  HYDRO_TRY(const Field field, at(key));
  return field.integer();
}

Result<std::vector<Field>> Field::items(std::string_view key) const {
  HYDRO_TRY(const Field field, at(key));
  return field.items();
}

}  // namespace hydro::pt2
