// hydro/pt2/field.h — a JSON document with a place, read field by field: what is absent or of
// another kind is an Error that says where, never an exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"

namespace hydro::pt2 {

/// A value inside a document that outlives it, and how one gets there: "models/train.json:
/// graph.nodes[3]".
class Field {
 public:
  Field(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  [[nodiscard]] const Json& json() const { return *value_; }

  [[nodiscard]] const std::string& where() const { return where_; }

  [[nodiscard]] bool is_null() const { return value_->is_null(); }

  [[nodiscard]] bool has(std::string_view key) const;

  /// Errors (all of these): H0243.
  [[nodiscard]] Result<Field> at(std::string_view key) const;
  [[nodiscard]] Result<std::vector<Field>> items() const;
  [[nodiscard]] Result<std::vector<std::pair<std::string, Field>>> members() const;
  /// The one member of a tagged union, {"as_int": 3}.
  [[nodiscard]] Result<std::pair<std::string, Field>> only_member() const;
  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] Result<std::int64_t> integer() const;
  [[nodiscard]] Result<bool> boolean() const;
  /// Also the strings "Infinity", "-Infinity", "NaN".
  [[nodiscard]] Result<double> number() const;

  /// The field at `key` as one of these.
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;
  [[nodiscard]] Result<std::vector<Field>> items(std::string_view key) const;

  [[nodiscard]] Error wrong(std::string_view wanted) const;

 private:
  const Json* value_;
  std::string where_;
};

}  // namespace hydro::pt2
