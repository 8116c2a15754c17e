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
    row("H0308",
        kInvalidInput,
        kUsage,
        "a role that the graph contradicts",
        "A role says whether a weight's fan-in and fan-out are widths, and the graph says "
        "otherwise of this one: its learning rate would be scaled by a ratio that it does not "
        "have.",
        "leave the role out, or use `none` to leave the parameter unscaled"),
    row("H0310",
        kInvalidInput,
        kUsage,
        "the coordinate check failed",
        "Some layers learn at another speed in the narrow model than in the wide one, so "
        "that a learning rate found on surrogates need not be good at full width. With "
        "`coordinate_check: warn` the study goes on, marked.",
        "see every layer by `hydro check JOB --coordinates`; where single layers fail, check "
        "`model.roles`; else lower `train.optimizer.lr` (the check trains at a quarter of its "
        "median) or `tune.scaling`"),
    row("H0330",
        kUnsupported,
        kUsage,
        "an op of the model cannot be run",
        "The model uses an operation that PyTorch itself does not have, as extensions bring "
        "them; the place is the line of the model's own code that asked for it. Nothing is "
        "skipped or guessed.",
        "rewrite that line with PyTorch's own operations"),
    row("H0331",
        kBug,
        kUsage,
        "a tensor has another shape than predicted",
        "Shrinking predicted the shape of every tensor, and a real run on random data "
        "disagrees at the named node. Training would go on with a model that is not the one "
        "described.",
        "report it with the model archive; `scaling: 1` avoids shrinking meanwhile"),
    row("H0332",
        kUnsupported,
        kUsage,
        "an op draws random numbers of its own",
        "Every random number of a study comes from its seed, the trial, the step and the "
        "place in the model, so that a trial's result never depends on who runs beside it. "
        "The named operation draws from PyTorch's own generator and has no such form here.",
        "write it with torch.rand, randn, bernoulli or dropout"),
});

}  // namespace

std::span<const CatalogueRow> shrink_rows() {
  return kRows;
}

}  // namespace hydro
