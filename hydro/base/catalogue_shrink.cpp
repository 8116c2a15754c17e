// Errors of shrinking, fusing, ops: one row each, sorted by id.
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
    row("H0301",
        kUnsupported,
        kUsage,
        "an op that shrinking has no rule for",
        "Which numbers of a model are widths is found op by op. Of this op it is not known "
        "how its sizes follow the width, so the narrower model could silently be a "
        "different one. The message names the op and your line.",
        "write this line with ops that have a rule, or ask for the op to be added"),
    row("H0302",
        kInvalidInput,
        kUsage,
        "shrinking saves too little",
        "The surrogate keeps more than half of the target's parameters, because most of its "
        "sizes are held by the input, the output, a reshape or the minimum width. The table "
        "lists the largest tensors and what keeps sizes.",
        "raise `tune.scaling`, lower `tune.min_width`, or set `scaling: 1` to search at "
        "full width"),
    row("H0303",
        kInvalidInput,
        kUsage,
        "a role override that matches nothing",
        "A key of `model.roles` is neither a parameter's name nor a pattern that matches "
        "one.",
        "use a name or pattern of the list that `hydro check` prints"),
    row("H0304",
        kUnsupported,
        kUsage,
        "a width is cut into unequal parts",
        "Slicing, splitting, padding or joining is followed only where a width falls into "
        "equal parts: parts of unequal size would not stay the same parts after shrinking.",
        "cut the width into equal parts, or set `scaling: 1` and search at full width"),
    row("H0305",
        kUnsupported,
        kUsage,
        "a weight that is computed",
        "Learning rates and initial values are scaled by the role of each parameter. A "
        "weight that is computed from other tensors (weight_norm, spectral_norm, weight "
        "standardization) has no known role.",
        "remove the reparametrization"),
    row("H0306",
        kUnsupported,
        kUsage,
        "a weight used in two roles",
        "One parameter is, for example, an input weight in one place and an output weight "
        "in another; its learning rate cannot follow both rules.",
        "give each use its own parameter"),
    row("H0307",
        kCorrupt,
        kUsage,
        "shapes that contradict an op",
        "The shapes written in the model archive do not fit what the op does with its "
        "operands. The archive is damaged, or its exporter and this program disagree about "
        "the op.",
        "export the model again; if it persists, report it with the archive"),
    row("H0310",
        kInvalidInput,
        kUsage,
        "the coordinate check failed",
        "Some layers learn at another speed in the narrow model than in the wide one, so "
        "that a learning rate found on surrogates need not be good at full width. With "
        "`coordinate_check: warn` the study goes on, marked.",
        "run `hydro check JOB --coordinates` for the layers; check `model.roles`, or lower "
        "`tune.scaling`"),
    row("H0330",
        kUnsupported,
        kUsage,
        "an op of the model cannot be run",
        "The model uses an operation that has no row in the table of ops; the place is the "
        "line of the model's own code that asked for it. Nothing is skipped or guessed.",
        "rewrite that line with supported ops (docs list them), or add the op: one row in "
        "hydro/ops/table.cpp, one in hydro/shrink"),
    row("H0331",
        kBug,
        kUsage,
        "a tensor has another shape than predicted",
        "Shrinking predicted the shape of every tensor, and a real run on random data "
        "disagrees at the named node. Training would go on with a model that is not the one "
        "described.",
        "report it with the model archive; `scaling: 1` avoids shrinking meanwhile"),
});

}  // namespace

std::span<const CatalogueRow> shrink_rows() {
  return kRows;
}

}  // namespace hydro
