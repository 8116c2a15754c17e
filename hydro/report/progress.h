// hydro/report/progress.h — what a running study says: one line redrawn (bar), one line an
// event (plain), one JSON object an event (json), or nothing. Pure text makers, and a Progress
// that prints them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "hydro/report/results.h"
#include "hydro/tune/state.h"

namespace hydro::report {

enum class ProgressForm : std::uint8_t { kBar, kPlain, kJson, kNone };

/// "12/20 trials · best val_accuracy 0.812 (trial 7) · 3.1k samples/s · ETA 0:41", cut to
/// `width` columns.
[[nodiscard]] std::string bar_text(const tune::State& state, std::int64_t now_ns, int width);
/// One line for an event that people want to see, with its newline; empty for the others.
[[nodiscard]] std::string plain_text(const tune::State& state,
                                     const tune::Event& event,
                                     const std::vector<Column>& columns);
/// One JSON object, with its newline.
[[nodiscard]] std::string json_text(const tune::Event& event);

/// Prints to `out` as events come. Nothing is printed twice; finish() ends a redrawn line.
class Progress {
 public:
  Progress(ProgressForm form, std::vector<Column> columns, std::FILE* out);
  void event(const tune::State& state, const tune::Event& event);
  void finish();

 private:
  ProgressForm form_;
  std::vector<Column> columns_;
  std::FILE* out_;
  bool drawn_ = false;
};

/// What `auto` means for this stream: the bar on a terminal, else plain.
[[nodiscard]] ProgressForm default_form(std::FILE* out);

}  // namespace hydro::report
