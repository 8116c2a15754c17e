// hydro/tune/json_fields.h — structs to JSON and back from one list of fields:
//   template <> struct FieldsOf<Point> {
//     static void visit(auto& field, auto& point) { field("x", point.x); field("y", point.y); }
//   };
//   const Json json = json_fields::write(point);
//   std::string problem = json_fields::read(json, point);   // empty, or what is wrong and
//   where
// NaN and infinities are the strings "NaN", "Infinity", "-Infinity"; an enum is its number
// unless EnumText names it.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/json.h"

namespace hydro::tune {

/// Specialize for every struct that is stored.
template <class T>
struct FieldsOf;

/// Specialize for enums with names: static std::string_view text(T); static std::optional<T>
/// find(std::string_view).
template <class T>
struct EnumText;

namespace json_fields {

template <class T>
concept Named = requires(T value) { EnumText<T>::text(value); };

template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

template <class T>
[[nodiscard]] Json write(const T& value);
template <class T>
[[nodiscard]] std::string read(const Json& json, T& value);

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    object_[name] = write(value);
  }

  [[nodiscard]] Json take() && { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* name, T& value) {
    if (!problem_.empty()) {
      return;
    }
    const auto found = object_.find(name);
    problem_ = found == object_.end() ? "is missing" : read(*found, value);
    if (!problem_.empty()) {
      problem_ = std::string(name) + (problem_.front() == '.' ? "" : " ") + problem_;
    }
  }

  [[nodiscard]] std::string take_problem() && { return std::move(problem_); }

 private:
  const Json& object_;
  std::string problem_;
};

inline Json write_double(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}

inline std::string read_double(const Json& json, double& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "Infinity") {
    value = kInfinity;
  } else if (json == "-Infinity") {
    value = -kInfinity;
  } else {
    return "is not a number";
  }
  return {};
}

template <Number T>
std::string read_number(const Json& json, T& value) {
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : json.is_number_integer() &&
                                                    std::in_range<T>(json.get<std::int64_t>());
  if (!fits) {
    return "is not a whole number in range";
  }
  value = json.get<T>();
  return {};
}

// One overload set a container; tag arguments keep the two directions beside each other.

template <class T>
struct Codec {
  static Json write(const T& value) {
    Writer writer;
    FieldsOf<T>::visit(writer, value);
    return std::move(writer).take();
  }

  static std::string read(const Json& json, T& value) {
    if (!json.is_object()) {
      return "is not an object";
    }
    Reader reader(json);
    FieldsOf<T>::visit(reader, value);
    std::string problem = std::move(reader).take_problem();
    return problem.empty() ? problem : "." + problem;
  }
};

template <>
struct Codec<bool> {
  static Json write(bool value) { return value; }

  static std::string read(const Json& json, bool& value) {
    if (!json.is_boolean()) {
      return "is not true or false";
    }
    value = json.get<bool>();
    return {};
  }
};

template <>
struct Codec<double> {
  static Json write(double value) { return write_double(value); }

  static std::string read(const Json& json, double& value) { return read_double(json, value); }
};

template <>
struct Codec<std::string> {
  static Json write(const std::string& value) { return value; }

  static std::string read(const Json& json, std::string& value) {
    if (!json.is_string()) {
      return "is not a text";
    }
    value = json.get<std::string>();
    return {};
  }
};

template <Number T>
struct Codec<T> {
  static Json write(T value) { return value; }

  static std::string read(const Json& json, T& value) { return read_number(json, value); }
};

template <class T>
  requires std::is_enum_v<T>
struct Codec<T> {
  static Json write(T value) {
    if constexpr (Named<T>) {
      return std::string(EnumText<T>::text(value));
    } else {
      return static_cast<std::underlying_type_t<T>>(value);
    }
  }

  static std::string read(const Json& json, T& value) {
    if constexpr (Named<T>) {
      const std::optional<T> found =
          json.is_string() ? EnumText<T>::find(json.get<std::string>()) : std::nullopt;
      value = found.value_or(value);
      return found ? "" : "is not a known word";
    } else {
      std::underlying_type_t<T> number{};
      std::string problem = read_number(json, number);
      value = static_cast<T>(number);
      return problem;
    }
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static Json write(const std::optional<T>& value) {
    return value ? json_fields::write(*value) : Json(nullptr);
  }

  static std::string read(const Json& json, std::optional<T>& value) {
    value.reset();
    return json.is_null() ? std::string() : json_fields::read(json, value.emplace());
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Json write(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) {
      array.push_back(json_fields::write(value));
    }
    return array;
  }

  static std::string read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) {
      return "is not a list";
    }
    values.clear();
    for (const Json& element : json) {
      if (std::string problem = json_fields::read(element, values.emplace_back());
          !problem.empty()) {
        return problem;
      }
    }
    return {};
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Json write(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) {
      object[key] = json_fields::write(value);
    }
    return object;
  }

  static std::string read(const Json& json, std::map<std::string, T>& values) {
    if (!json.is_object()) {
      return "is not an object";
    }
    values.clear();
    for (const auto& [key, element] : json.items()) {
      if (std::string problem = json_fields::read(element, values[key]); !problem.empty()) {
        return problem;
      }
    }
    return {};
  }
};

/// A hyperparameter: JSON's own types tell 128 from 128.0.
template <>
struct Codec<std::variant<bool, std::int64_t, double, std::string>> {
  using Value = std::variant<bool, std::int64_t, double, std::string>;

  static Json write(const Value& value) {
    return std::visit([](const auto& held) { return json_fields::write(held); }, value);
  }

  static std::string read(const Json& json, Value& value) {
    if (json.is_boolean()) {
      value = json.get<bool>();
    } else if (json.is_number_integer()) {
      value = json.get<std::int64_t>();
    } else if (json.is_number()) {
      value = json.get<double>();
    } else if (json.is_string()) {
      value = json.get<std::string>();
    } else {
      return "is not a value";
    }
    return {};
  }
};

template <class T>
Json write(const T& value) {
  return Codec<T>::write(value);
}

template <class T>
std::string read(const Json& json, T& value) {
  return Codec<T>::read(json, value);
}

}  // namespace json_fields
}  // namespace hydro::tune
