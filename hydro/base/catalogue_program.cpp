// Errors of search (H07), environment (H08), command line and bugs (H09): one row each, sorted
// by id.
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
    row("H0701",
        kInvalidInput,
        kUsage,
        "a range is empty or inverted",
        "The lower bound of a distribution must lie below its upper bound, else there is "
        "nothing to draw from.",
        "write [low, high] with low below high"),
    row("H0702",
        kInvalidInput,
        kUsage,
        "a logarithmic range touches 0",
        "loguniform and qloguniform draw uniformly in the logarithm of the value; bounds "
        "are values, not exponents.",
        "start the range above 0, or use uniform"),
    row("H0703",
        kInvalidInput,
        kUsage,
        "a bound or option is not a finite number",
        "NaN and infinity cannot bound a range or be tried as a value.",
        "write a finite number"),
    row("H0704",
        kInvalidInput,
        kUsage,
        "a bound is not on the grid's step",
        "quniform and qloguniform draw low + k q; the step must be above 0 and the upper "
        "bound must be one of these points, written in at most 18 digits.",
        "change the upper bound or the step so that (high - low) / q is a whole number"),
    row("H0705",
        kInvalidInput,
        kUsage,
        "options are missing or repeated",
        "A choice or grid needs at least one option, and each only once: a repeated option "
        "would be drawn twice as often, or trained twice.",
        "write each option once"),
    row("H0706",
        kInvalidInput,
        kUsage,
        "grid search over a continuous parameter",
        "Grid search tries the product of all values, so every parameter must have finitely "
        "many.",
        "use choice, grid, randint, quniform or qloguniform for it, or `search: random`"),
    row("H0707",
        kInvalidInput,
        kUsage,
        "the search space has too many configurations",
        "The product of all grids (and samples) passes a billion.",
        "use fewer values, or `search: random` with choice in place of grid"),
    row("H0708",
        kInvalidInput,
        kUsage,
        "a grid inside a branch of a random search",
        "In a random search, grid multiplies the number of samples; inside an option of a "
        "choice it would exist for some samples only.",
        "write choice in place of grid, or use `search: grid`"),
    row("H0720",
        kInvalidInput,
        kUsage,
        "nothing to search",
        "No value of the job is a distribution, so all samples would have the same "
        "hyperparameters and differ in their random numbers only.",
        "make a value such as train.optimizer.lr a distribution, write num_samples: 1, or "
        "dedup: false to train the same ones several times"),
    row("H0721",
        kInvalidInput,
        kUsage,
        "a point to evaluate cannot be tried",
        "`points_to_evaluate` names hyperparameters by their paths or short names; their "
        "values must be ones that the search could draw, and only those of chosen options "
        "may be given.",
        "docs/search-space.md has the names and the form"),
    row("H0722",
        kUnavailable,
        kInterrupted,
        "the searcher process failed",
        "It died, was silent beyond its deadline, answered something else than was asked, or "
        "repeated a configuration. It is started again and told all that it had been told.",
        "read the last lines of its standard error; docs/searchers.md has the protocol"),
    row("H0723",
        kUnavailable,
        kInterrupted,
        "the searcher failed three times in a row",
        "Without a searcher there are no further configurations. Trials that ran were finished "
        "first, and all results are kept.",
        "mend the searcher (its last lines are in log.txt), or use `search: random`"),
    row("H0724",
        kUnavailable,
        kEnvironment,
        "the searcher cannot be started",
        "The program of `search.command` cannot be run, did not answer its greeting in the "
        "searchers' protocol, or Optuna is not installed in the Python that runs the model.",
        "check search.command, or install optuna into that Python"),
    row("H0725",
        kInvalidInput,
        kUsage,
        "the searcher refuses its settings",
        "The searcher process answered its greeting with an error: it cannot search this "
        "space, or not with these settings.",
        "change the keys below `search`"),
    row("H0726",
        kUnsupported,
        kUsage,
        "too many hyperparameters for a Sobol search",
        "The sequence has a fixed number of dimensions, one for each hyperparameter.",
        "use `search: random`"),
    row("H0801",
        kUnavailable,
        kEnvironment,
        "torch is not usable",
        "The Python interpreter that runs the user's model cannot import torch, or its "
        "torch is older than 2.11.",
        "install torch 2.11 or later into it, or name another interpreter by `python:`"),
    row("H0802",
        kUnavailable,
        kEnvironment,
        "the exporter is not found",
        "The Python package that exports models belongs beside this program; the program "
        "looks upwards from its own place for python/hydro/export.py.",
        "set HYDRO_HOME to the checkout's folder"),
    row("H0803",
        kUnavailable,
        kEnvironment,
        "another program cannot be started",
        "The operating system refused to start the program named in the message.",
        "run tools/bootstrap, or set model.python to an interpreter that exists"),
    row("H0901",
        kInvalidInput,
        kUsage,
        "the command line is wrong",
        "The verb, an option or an argument is not one that this program knows.",
        "see `hydro --help` or `hydro VERB --help`"),
    row("H0902",
        kInvalidInput,
        kUsage,
        "no such error code or trial",
        "`hydro explain` takes an error code such as H0103, or a run's folder and a trial "
        "number.",
        "copy the code from the brackets of the message"),
    row("H0903",
        kInvalidInput,
        kUsage,
        "no such column, or no filter",
        "`hydro show` sorts and filters trials by the columns of trials.csv, or by the "
        "metric's name.",
        "write the column as in the first line of trials.csv"),
    row("H0999",
        kBug,
        kUsage,
        "a fault of this program",
        "A condition that the program itself should guarantee was broken. Nothing that was "
        "acknowledged is lost.",
        "please report it with the message, the job file and log.txt"),
});

}  // namespace

std::span<const CatalogueRow> program_rows() {
  return kRows;
}

}  // namespace hydro
