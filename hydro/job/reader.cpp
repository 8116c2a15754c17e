#include "hydro/job/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/distributions.h"
#include "hydro/job/node.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "-0.5e-3", ".5", "1."; no hexadecimal, no leading zeros (YAML 1.1 reads 010 as 8), no
/// underscores.
bool has_number_form(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const bool leading_zero = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  const bool starts_well =
      !text.empty() &&
      (is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1])));
  return starts_well && !leading_zero &&
         text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

std::optional<double> parse_number(std::string_view text) {
  if (!has_number_form(text)) {
    return std::nullopt;
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || fault == std::errc::invalid_argument) {
    return std::nullopt;
  }
  return fault == std::errc::result_out_of_range ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!has_number_form(text)) {
    return std::nullopt;
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc() && end == text.data() + text.size()) {
    return value;
  }
  constexpr double kExact = 0x1p53;
  const auto number = parse_number(text);
  if (!number || std::abs(*number) > kExact || *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

/// "15 min" -> {15, "min"}; the unit may stand without a space.
std::optional<std::pair<double, std::string_view>> split_unit(std::string_view text) {
  std::size_t end = text.find_first_not_of("0123456789.eE+-");
  end = std::min(end, text.size());
  // The e of "1 epoch" is no exponent: the number ends at its last digit or point.
  while (end > 0 && !is_digit(text[end - 1]) && text[end - 1] != '.') {
    --end;
  }
  const auto number = parse_number(text.substr(0, end));
  if (!number) {
    return std::nullopt;
  }
  std::string_view unit = text.substr(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  return std::pair(*number, unit);
}

struct SpanUnit {
  std::string_view text;
  worker::Span::Unit unit;
  double scale;
};

constexpr auto kSpanUnits = std::to_array<SpanUnit>({
    {.text = "%", .unit = worker::Span::Unit::kShare, .scale = 100},
    {.text = "epoch", .unit = worker::Span::Unit::kEpochs, .scale = 1},
    {.text = "epochs", .unit = worker::Span::Unit::kEpochs, .scale = 1},
    {.text = "", .unit = worker::Span::Unit::kSteps, .scale = 1},
    {.text = "step", .unit = worker::Span::Unit::kSteps, .scale = 1},
    {.text = "steps", .unit = worker::Span::Unit::kSteps, .scale = 1},
});

constexpr auto kTimeUnits = std::to_array<std::pair<std::string_view, double>>(
    {{"s", 1e3}, {"min", 60e3}, {"h", 3600e3}});

constexpr auto kSizeUnits =
    std::to_array<std::pair<std::string_view, double>>({{"KB", 1e3},
                                                        {"MB", 1e6},
                                                        {"GB", 1e9},
                                                        {"TB", 1e12},
                                                        {"KiB", 0x1p10},
                                                        {"MiB", 0x1p20},
                                                        {"GiB", 0x1p30},
                                                        {"TiB", 0x1p40}});

}  // namespace

Error Reader::wrong(const Node& node, std::string_view key, std::string_view wanted) const {
  if (auto fault = misplaced_distribution(*this, node, key)) {
    return *std::move(fault);
  }
  std::string what =
      "`" + std::string(key) + "` must be " + std::string(wanted) + ", not " + describe(node);
  Error fault = error(node, "H0105", std::move(what));
  if (auto remedy = quotes_remedy(node)) {
    return std::move(fault).fix(*std::move(remedy));
  }
  if (node.is_plain() && node.text.size() > 1 && node.text[0] == '0' &&
      is_digit(node.text[1])) {
    return std::move(fault).fix(
        "remove the leading zero: other readers would take it for an octal number");
  }
  return fault;
}

std::optional<std::string> quotes_remedy(const Node& node) {
  const std::span<const Node> texts =
      node.is_sequence() ? std::span<const Node>(node.items) : std::span(&node, 1);
  const auto quoted = std::ranges::find_if(texts, [](const Node& text) {
    return text.is_scalar() && text.quoted &&
           (parse_number(text.text) || text.text == "true" || text.text == "false");
  });
  return quoted == texts.end() ? std::nullopt
                               : std::optional("remove the quotes and write " + quoted->text +
                                               ": quoted values are text");
}

std::filesystem::path Reader::absolute(const std::string& path) const {
  return (folder / path).lexically_normal();
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return "`" + printable(node.text.substr(0, 60)) + "`";
    case Node::Kind::kSequence:
      return "a list";
    case Node::Kind::kMap:
      return "a mapping";
  }
  return {};
}

std::optional<bool> as_bool(const Node& node) {
  if (!node.is_plain() || (node.text != "true" && node.text != "false")) {
    return std::nullopt;
  }
  return node.text == "true";
}

std::optional<double> as_number(const Node& node) {
  if (!node.is_plain()) {
    return std::nullopt;
  }
  if (node.text == ".nan" || node.text == "nan" || node.text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (node.text == ".inf" || node.text == "inf" || node.text == "-.inf" ||
      node.text == "-inf") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return node.text[0] == '-' ? -kInfinity : kInfinity;
  }
  return parse_number(node.text);
}

std::optional<std::int64_t> as_integer(const Node& node) {
  return node.is_plain() ? parse_integer(node.text) : std::nullopt;
}

std::optional<std::int64_t> as_exact_integer(const Node& node) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto value = as_integer(node);
  return value && *value >= -kMost && *value <= kMost ? value : std::nullopt;
}

std::optional<worker::Span> as_span(const Node& node) {
  if (!node.is_scalar()) {
    return std::nullopt;
  }
  const auto parts = split_unit(node.text);
  if (!parts || parts->first < 0) {
    return std::nullopt;
  }
  for (const SpanUnit& row : kSpanUnits) {
    if (parts->second == row.text) {
      return worker::Span{.amount = parts->first / row.scale, .unit = row.unit};
    }
  }
  return std::nullopt;
}

std::string span_text(const worker::Span& span) {
  switch (span.unit) {
    case worker::Span::Unit::kShare:
      return plain_number(span.amount * 100) + '%';
    case worker::Span::Unit::kEpochs:
      return plain_number(span.amount) + (span.amount == 1 ? " epoch" : " epochs");
    case worker::Span::Unit::kSteps:
      return plain_number(span.amount) + (span.amount == 1 ? " step" : " steps");
  }
  return {};
}

std::optional<std::chrono::milliseconds> as_duration(const Node& node) {
  if (!node.is_scalar()) {
    return std::nullopt;
  }
  const auto parts = split_unit(node.text);
  if (!parts || parts->first < 0 || parts->first > 1e9) {
    return std::nullopt;
  }
  for (const auto& [unit, milliseconds] : kTimeUnits) {
    if (parts->second == unit) {
      return std::chrono::milliseconds(std::llround(parts->first * milliseconds));
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> as_size(const Node& node) {
  constexpr double kMost = 1e6;  // of a unit: no sum of sizes overflows
  if (!node.is_scalar()) {
    return std::nullopt;
  }
  const auto parts = split_unit(node.text);
  if (!parts || parts->first < 0 || parts->first > kMost) {
    return std::nullopt;
  }
  for (const auto& [unit, bytes] : kSizeUnits) {
    if (parts->second == unit) {
      return static_cast<std::uint64_t>(std::llround(parts->first * bytes));
    }
  }
  return std::nullopt;
}

}  // namespace hydro::job
