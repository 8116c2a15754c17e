"""The initialisation laws of a model: recorded while it is built, then checked by statistics
over more builds.
"""

import dataclasses
import math

import torch

from hydro import agreement, laws
from hydro.errors import ExportError
from hydro.recording import Recorder, rows_of

_FIRST_SEED = 20_240_601
# Per piece and build; more says no more about a law with two numbers.
_SAMPLE = 16_384
_SAMPLE_TO_FIT = 1 << 20
_LARGE_MODEL = 20_000_000
_SMALL_MODEL = 5_000_000
_NOT_INDEPENDENT = (
    "linalg_qr",
    "qr",
    "linalg_svd",
    "_linalg_svd",
    "svd",
    "linalg_householder_product",
)
_DIFFERS = laws.unknown("its law differs from build to build")
_OVERWRITTEN = laws.unknown("its values are not those of the law that last filled it")


@dataclasses.dataclass
class Build:
    model: torch.nn.Module
    laws: dict  # parameter name -> [(first row, last row + 1, law)]


class Builder:
    """Calls the user's callable with one seed after another."""

    def __init__(self, make_model, seeds):
        self._make_model = make_model
        self._seeds = seeds
        self._count = 0
        self.latest = None

    def build(self):
        with self._seeds.fixed(_FIRST_SEED + self._count), Recorder() as recorder:
            model = self._make_model()
        self._count += 1
        self.latest = model
        found = {}
        if isinstance(model, torch.nn.Module):
            for name, parameter in model.named_parameters():
                if parameter.requires_grad and _is_plain(parameter):
                    found[name] = rows_of(recorder.read(parameter), list(parameter.shape))
        return Build(model, found)


def _is_plain(parameter):
    """Others are refused when the state is listed."""
    return type(parameter) is torch.nn.Parameter and parameter.layout == torch.strided


def find_laws(first, builder, where):
    """(laws by name, unknown laws by name of what follows none). Refuses loaded weights."""
    parameters = dict(first.model.named_parameters())
    samples = {name: [_take(parameters[name], pieces)] for name, pieces in first.laws.items()}
    recorded = dict(first.laws)
    for _ in range(_more_builds(first, parameters)):
        build = builder.build()
        _check_same_model(first, build, where)
        its_parameters = dict(build.model.named_parameters())
        for name, pieces in first.laws.items():
            samples[name].append(_take(its_parameters[name], pieces))
            if build.laws[name] != pieces:
                recorded[name] = [(a, b, _DIFFERS) for a, b, _ in pieces]
    found, unrecorded = {}, {}
    for name, pieces in recorded.items():
        found[name], unknown = _Judge(name, parameters[name], where).judge(
            pieces, samples[name]
        )
        if unknown:
            unrecorded[name] = unknown
    return found, unrecorded


def _more_builds(first, parameters):
    """One more build shows that nothing is loaded; laws that must be fitted want more, small
    ones many more.
    """
    unknown = [
        parameters[name].numel()
        for name, pieces in first.laws.items()
        if not all(law.known for *_, law in pieces)
    ]
    total = sum(p.numel() for p in parameters.values())
    if not unknown or total > _LARGE_MODEL:
        return 1
    if total > _SMALL_MODEL:
        return 2
    return min(23, max(2, math.ceil(2000 / max(1, min(unknown)))))


def _check_same_model(first, other, where):
    if other.model is first.model:
        why = "it returned the same object a second time"
    elif list(other.laws) != list(first.laws) or any(
        a.shape != b.shape
        for a, b in zip(first.model.parameters(), other.model.parameters(), strict=True)
    ):
        why = "its second result has other parameters than the first"
    else:
        return
    what = "the callable does not build a new model at each call"
    raise ExportError(
        "H0205", what, where=where, why=why, do="let it build and return a new nn.Module"
    )


def _take(parameter, pieces):
    """For each piece the values to look at: some of a known law's, whole rows of an unknown
    one's.
    """
    table = parameter.detach().reshape(parameter.shape[0] if parameter.dim() else 1, -1)
    taken = []
    for begin, end, law in pieces:
        values = table[begin:end]
        if law.known:
            flat = values.reshape(-1)
            taken.append(flat[:: max(1, flat.numel() // _SAMPLE)].double())
        else:
            rows = max(1, _SAMPLE_TO_FIT // max(1, table.shape[1]))
            taken.append(values[:rows].reshape(-1)[:_SAMPLE_TO_FIT].double())
    return taken


class _Judge:
    """Decides which law each piece of one parameter follows, from the record and from the
    values of the builds.
    """

    def __init__(self, name, parameter, where):
        self._name = name
        self._where = where
        self._precision = 4 * torch.finfo(parameter.dtype).eps
        self._row_size = parameter.numel() // max(
            1, parameter.shape[0] if parameter.dim() else 1
        )

    def judge(self, pieces, samples):
        """(final pieces, None) or ([], the unknown law with the reason)."""
        final = []
        for k, (begin, end, law) in enumerate(pieces):
            new, why = self._piece(law, [sample[k] for sample in samples], end - begin)
            if why:
                return [], laws.unknown(why, where=law.where)
            final += [(begin + a, begin + b, found) for a, b, found in new]
        return final, None

    def _piece(self, law, builds, rows):
        if builds[0].numel() == 0:
            return [(0, rows, laws.constant(0.0))], ""
        same = agreement.same_in_all(builds)
        if (
            law.known
            and law.random
            and same
            and not law.own_generator
            and builds[0].numel() > 1
        ):
            raise _loaded(self._name, self._where)
        if law.known and agreement.agrees(law, builds, self._precision):
            return [(0, rows, law)], ""
        if law.known:
            law = _OVERWRITTEN
        if law.settled:
            return [], law.why
        return (
            self._same_values(law, builds[0], rows) if same else self._fitted(law, builds, rows)
        )

    def _same_values(self, law, values, rows):
        whole = values.numel() == rows * self._row_size
        constants = agreement.as_constants(values, rows) if whole else None
        if constants:
            return constants, ""
        if law.operation:
            return [], f"it holds the same pattern of values in every build ({law.why})"
        raise _loaded(self._name, law.where or self._where)

    def _fitted(self, law, builds, rows):
        if law.operation in _NOT_INDEPENDENT:
            return [], f"its values depend on one another ({law.why})"
        seen_rows = max(1, builds[0].numel() // max(1, self._row_size))
        found, why = agreement.fit(builds, seen_rows, self._precision)
        return ([(0, rows, found)], "") if found else ([], f"{law.why}; {why}")


def _loaded(name, where):
    return ExportError(
        "H0207",
        f"the parameter `{name}` starts with loaded weights",
        where=where,
        why=(
            "it has the same values in every build and they are no constant; Hydro draws "
            "weights anew and trains from scratch, fine-tuning is not what it does"
        ),
        do=(
            "build the model without pretrained weights (weights=None), and draw values "
            "without a seed of your own"
        ),
    )


def law_not_recorded(unrecorded, where):
    name, law = next(iter(unrecorded.items()))
    more = f" (and {len(unrecorded) - 1} more)" if len(unrecorded) > 1 else ""
    return ExportError(
        "H0208",
        f"the initialisation of `{name}`{more} follows no law that Hydro can draw from",
        where=law.where or where,
        why=law.why,
        do=(
            "initialise it by torch.nn.init (uniform, normal, truncated normal, constant), or"
            " accept PyTorch's standard law: `model.initialization: standard` in the job,"
            " --initialization standard for `hydro export`"
        ),
    )


def _standard_pieces(name, parameters):
    """PyTorch's own law for a linear layer: uniform within 1/sqrt(fan-in); of a bias the fan-in
    of its weight.
    """
    parameter = parameters[name]
    rows = parameter.shape[0] if parameter.dim() else 1
    holder = parameter
    if parameter.dim() < 2:
        stem = name.rpartition(".")[0]
        holder = parameters.get(f"{stem}.weight" if stem else "weight", parameter)
    if holder.dim() < 2:
        return [(0, rows, laws.constant(0.0, source="standard"))]
    bound = 1 / math.sqrt(max(1, holder.numel() // max(1, holder.shape[0])))
    return [(0, rows, laws.uniform(-bound, bound, source="standard"))]


def describe(model, found, unrecorded):
    """The manifest's part about initialisation; PyTorch's standard law stands in for what
    follows none.
    """
    parameters = dict(model.named_parameters())
    found = found | {name: _standard_pieces(name, parameters) for name in unrecorded}
    reasons = {name: law.why for name, law in unrecorded.items()}
    laws_by_name = {
        name: [law.as_json(begin, end) for begin, end, law in pieces]
        for name, pieces in found.items()
    }
    warnings = _warnings_about(model, found, reasons)
    return {"initialization": laws_by_name, "unrecorded": reasons, "warnings": warnings}


def _warnings_about(model, found, unrecorded):
    """What the user should read about the laws."""
    replaced = [
        f"`{name}` is drawn by PyTorch's standard law: {why}"
        for name, why in unrecorded.items()
    ]
    fitted = [
        f"the law of `{name}` is fitted to its values, not recorded"
        for name, pieces in found.items()
        if any(law.source == "fitted" and law.random for *_, law in pieces)
    ]
    return replaced + fitted + _starting_alike(model, found)


def _starting_alike(model, found):
    """A warning when parameters start with equal random values, as copied layers do."""
    equal, seen = [], {}
    for name, parameter in model.named_parameters():
        if not any(law.random for *_, law in found.get(name, [])):
            continue
        key = (tuple(parameter.shape), tuple(parameter.detach().reshape(-1)[:16].tolist()))
        first = seen.setdefault(key, name)
        if first != name and torch.equal(parameter, model.get_parameter(first)):
            equal.append((name, first))
    if not equal:
        return []
    name, first = equal[0]
    more = f", and {len(equal) - 1} more to others" if len(equal) > 1 else ""
    return [
        f"`{name}` starts equal to `{first}`{more} in the model; here each is drawn by itself"
    ]
