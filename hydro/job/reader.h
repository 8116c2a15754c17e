// hydro/job/reader.h — what the readers of all sections share: where a relative path starts,
// how an error is placed, and how a scalar becomes a number. The key decides the type (no
// Norway trap): booleans are true and false only, numbers have no leading zeros, quoted text is
// text.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/worker/settings.h"

namespace hydro::job {

struct Reader {
  const std::vector<Source>& sources;
  const std::filesystem::path& folder;

  [[nodiscard]] Error error(const Node& node, std::string_view id, std::string what) const {
    return error_at(sources, node, id, std::move(what));
  }

  [[nodiscard]] Error error(const Key& key, std::string_view id, std::string what) const {
    return error_at(sources, key.place, key.text.size(), id, std::move(what));
  }

  /// "`epochs` must be an integer, not `six`", or what is wrong with a distribution that cannot
  /// stand here.
  [[nodiscard]] Error wrong(const Node& node,
                            std::string_view key,
                            std::string_view wanted) const;

  [[nodiscard]] std::filesystem::path absolute(const std::string& path) const;
};

/// What to do about a quoted number or boolean, also one in a list, where plain ones are
/// wanted; nothing when `node` holds none.
[[nodiscard]] std::optional<std::string> quotes_remedy(const Node& node);

/// "six", "a list", "a mapping", "nothing"
[[nodiscard]] std::string describe(const Node& node);

[[nodiscard]] std::optional<bool> as_bool(const Node& node);
/// Also .inf and .nan, which ranges refuse by name.
[[nodiscard]] std::optional<double> as_number(const Node& node);
/// A whole number, also as 1e4 or 64.0.
[[nodiscard]] std::optional<std::int64_t> as_integer(const Node& node);
/// One that a double holds exactly: beyond 2^53 a value would not come back as it was drawn.
[[nodiscard]] std::optional<std::int64_t> as_exact_integer(const Node& node);

/// "40%", "1 epoch", "2.5 epochs", "300" or "300 steps".
[[nodiscard]] std::optional<worker::Span> as_span(const Node& node);
[[nodiscard]] std::string span_text(const worker::Span& span);
/// "90 s", "15 min", "2 h"
[[nodiscard]] std::optional<std::chrono::milliseconds> as_duration(const Node& node);
/// Bytes: "4 GB", "512 MiB"
[[nodiscard]] std::optional<std::uint64_t> as_size(const Node& node);

}  // namespace hydro::job
