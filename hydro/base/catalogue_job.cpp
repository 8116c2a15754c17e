// Errors of the job file: one row each, sorted by id.
#include <array>
#include <span>

#include "hydro/base/catalogue.h"
#include "hydro/base/catalogue_rows.h"
#include "hydro/base/result.h"

namespace hydro {
namespace {

using enum ErrorCode;
using enum ExitCode;

constexpr auto kRows = std::to_array<CatalogueRow>({
    row("H0100",
        kInvalidInput,
        kUsage,
        "the job file cannot be read",
        "The path given to `tune` or `check` is not a file that can be opened.",
        "check the path"),
    row("H0101",
        kInvalidInput,
        kUsage,
        "the job file is too large",
        "Job files are read whole and hold settings, not data; a larger one is not a job "
        "file.",
        "keep it under 1 MB; data belong in files of their own"),
    row("H0102",
        kInvalidInput,
        kUsage,
        "the job file is not YAML as job files use it",
        "Besides faults of syntax: a second document, tags, merge keys, keys that are not "
        "plain text, and aliases inside their own anchor are refused, since readers "
        "disagree about them.",
        "mend the line shown"),
    row("H0103",
        kInvalidInput,
        kUsage,
        "an unknown key",
        "Every key of a job file is known; a misspelt one would silently do nothing.",
        "docs/job-file.md lists the keys of a job file"),
    row("H0104",
        kInvalidInput,
        kUsage,
        "a key is repeated",
        "Of two equal keys, readers of YAML take the first or the last. Job files may not "
        "hold any.",
        "keep one of them"),
    row("H0105",
        kInvalidInput,
        kUsage,
        "a value has the wrong type",
        "The key decides the type: booleans are true and false only, numbers have no "
        "leading zeros, quoted values are text.",
        "write a value of the type named"),
    row("H0106",
        kInvalidInput,
        kUsage,
        "a key is missing",
        "Nothing sensible can stand in for it.",
        "add it"),
    row("H0107",
        kInvalidInput,
        kUsage,
        "the job file is not plain UTF-8 text",
        "A byte order mark, a control character or a byte sequence that is not UTF-8.",
        "save the file as UTF-8 without a byte order mark"),
    row("H0108",
        kInvalidInput,
        kUsage,
        "the job file is nested too deep or too big",
        "At most 32 levels and 20,000 values, aliases counted as often as they are used.",
        "write it flatter, without nested aliases"),
    row("H0109",
        kInvalidInput,
        kUsage,
        "two settings exclude each other",
        "Only one of the two can be meant.",
        "keep one of them"),
    row("H0110",
        kInvalidInput,
        kUsage,
        "a distribution is malformed or stands where none can",
        "A distribution is a mapping with one key, such as {uniform: [0, 1]}. Values under "
        "`train` (but task, epochs, steps, evaluate, drop_last, amp) and `model.kwargs` may "
        "be distributions.",
        "write one value, or a distribution of the form shown"),
    row("H0111",
        kInvalidInput,
        kUsage,
        "model arguments need a small finite choice",
        "Each value under `model.kwargs` is a model of its own, exported before the search: "
        "choice, grid or randint, at most 1000 models in all.",
        "use choice with the values to try"),
    row("H0112",
        kInvalidInput,
        kUsage,
        "a --set cannot be applied",
        "--set takes KEY=VALUE with the key's dotted path in the job file, such as --set "
        "tune.num_samples=50.",
        "write --set KEY=VALUE"),
    row("H0120",
        kInvalidInput,
        kUsage,
        "searched, but not transferable across width",
        "The search runs on models S times narrower than the target. The best value of "
        "dropout, label smoothing and L2 weight decay depends on the width, so what is best "
        "there is not best for the target.",
        "fix it to one value, set `scaling: 1`, or search it on the target with "
        "`target_search` (a later version)"),
    row("H0121",
        kInvalidInput,
        kUsage,
        "L2 weight decay inside adam at S > 1",
        "Adam divides the penalty's gradient by the same running mean as the loss's, so no "
        "factor keeps its effect equal at two widths.",
        "use adamw (decoupled decay, which transfers), set weight_decay: 0, or `scaling: 1`"),
    row("H0122",
        kInvalidInput,
        kUsage,
        "a metric that is never reported",
        "The task decides which metrics trials report; a comparison by another one could "
        "never be made.",
        "use one of the metrics named"),
    row("H0124",
        kInvalidInput,
        kUsage,
        "a configuration does not fit the search space",
        "Every parameter of the space needs a value that it can take.",
        "compare the configuration with the job's distributions"),
    row("H0125",
        kInvalidInput,
        kUsage,
        "the scheduler's times do not fit the training",
        "A scheduler counts evaluations. No trial may be stopped before `grace_period`; at "
        "`max_t` it is done, and it cannot have more evaluations than its training.",
        "compare grace_period and max_t with the epochs and `evaluate`"),
    row("H0130",
        kUnsupported,
        kUsage,
        "not in this version",
        "The format of job files and the command line know this setting, but the part of the "
        "program behind it is "
        "built later. Ignoring it would give another result than asked for.",
        "remove the key"),
    row("H0140",
        kInvalidInput,
        kUsage,
        "the mode contradicts the metric",
        "A loss is better when smaller, an accuracy when larger; the job asks for the "
        "opposite. It runs as asked.",
        "remove `mode`, or check the metric"),
    row("H0141",
        kInvalidInput,
        kUsage,
        "a schedule boundary never fires",
        "The step schedule's first boundary lies at or behind the end of training, so the "
        "rate stays constant. It runs as asked.",
        "make step_size shorter than the training, such as 40%"),
    row("H0142",
        kInvalidInput,
        kUsage,
        "more samples than configurations",
        "The space has fewer configurations than num_samples asks for. Each is tried once and "
        "the search ends; with `dedup: false` some are trained several times.",
        "lower num_samples, or widen the space"),
    row("H0143",
        kInvalidInput,
        kUsage,
        "a scheduler that cannot stop anything",
        "Its first comparison lies at the end of training, or too few trials come for one. It "
        "runs as asked: every trial to its end.",
        "train for more evaluations or with more trials, lower grace_period, or write "
        "`scheduler: fifo`"),
});

}  // namespace

std::span<const CatalogueRow> job_rows() {
  return kRows;
}

}  // namespace hydro
