"""Laws that initial values follow, and what arithmetic on the drawn values does to a law. No
tensors here.
"""

import dataclasses
import math
import statistics

NORMAL = statistics.NormalDist()
# A clamp that cuts off less than this share of the values leaves the law as it was.
_NEGLIGIBLE = 1e-7
# Standard deviations beyond which a normal law has no values, so that no limit is infinite.
_FAR = 10.0


@dataclasses.dataclass(frozen=True)
class Law:
    """One of normal, uniform, truncated_normal, constant; or unknown, with the reason in `why`.

    truncated_normal: mean and std of the parent, cut at low and high.
    operation: what computed the values of an unknown law.
    where: file:line of the code that made them so.
    outside: the values did not come from PyTorch operations seen during the build.
    settled: no law can be fitted to the values, whatever they look like.
    """

    kind: str
    mean: float = 0.0
    std: float = 0.0
    low: float = 0.0
    high: float = 0.0
    value: float = 0.0
    source: str = "recorded"
    why: str = ""
    operation: str = ""
    where: str = dataclasses.field(default="", compare=False)
    outside: bool = False
    settled: bool = False
    own_generator: bool = False

    @property
    def known(self):
        return self.kind != "unknown"

    @property
    def random(self):
        return self.kind != "constant"

    def as_json(self, begin, end):
        numbers = {
            key: tidy(getattr(self, key)) for key in ("mean", "std", "low", "high", "value")
        }
        return {"rows": [begin, end], "law": self.kind, **numbers, "source": self.source}


def normal(mean, std, **more):
    if std == 0:
        return constant(mean)
    return Law("normal", mean=float(mean), std=float(std), **more)


def uniform(low, high, **more):
    if low == high:
        return constant(low)
    return Law("uniform", low=float(low), high=float(high), **more)


def constant(value, **more):
    return Law("constant", value=float(value), **more)


def unknown(why, **more):
    return Law("unknown", why=why, **more)


def tidy(number):
    """Takes off the last digits only where a chain of operations left a round number's noise, as in
    .020000000000000004; a number that needs all its digits stays exact.
    """
    short = float(f"{number:.15g}")
    return short if len(repr(short)) + 4 <= len(repr(float(number))) else number


def affine(law, scale, shift):
    """The law of scale * x + shift."""
    if not law.known:
        return law
    if not (math.isfinite(scale) and math.isfinite(shift)):
        return unknown("scaled or shifted by a number that is not finite")
    if scale == 0:
        return constant(shift)
    low, high = sorted((scale * law.low + shift, scale * law.high + shift))
    if law.kind == "normal":
        low = high = 0.0
    changed = {
        "normal": {"mean": scale * law.mean + shift, "std": abs(scale) * law.std},
        "uniform": {"low": low, "high": high},
        "truncated_normal": {
            "mean": scale * law.mean + shift,
            "std": abs(scale) * law.std,
            "low": low,
            "high": high,
        },
        "constant": {"value": scale * law.value + shift},
    }
    return dataclasses.replace(law, **changed[law.kind])


def inverse_error_function(law):
    """The law of erfinv(x): nn.init.trunc_normal_ draws a uniform number and sends it through
    this.
    """
    if law.kind != "uniform" or law.low < -1 or law.high > 1:
        return unknown("computed by erfinv", operation="erfinv") if law.known else law
    return dataclasses.replace(
        law,
        kind="truncated_normal",
        mean=0.0,
        std=math.sqrt(0.5),
        low=_erfinv(law.low),
        high=_erfinv(law.high),
    )


def _erfinv(x):
    if abs(x) == 1:
        return math.copysign(_FAR * math.sqrt(0.5), x)
    return NORMAL.inv_cdf((x + 1) / 2) * math.sqrt(0.5)


def clamp(law, low, high):
    """The law of values held between low and high: the same unless the clamp piles up a share
    of them.
    """
    low = -math.inf if low is None else low
    high = math.inf if high is None else high
    if law.kind == "constant":
        return constant(min(max(law.value, low), high))
    if not law.known:
        return law
    if law.kind == "uniform":
        slack = 1e-6 * (law.high - law.low)
        inside = law.low >= low - slack and law.high <= high + slack
        return law if inside else unknown("clamped: a share of the values lies on the limits")
    if _share_outside(law, low, high) > _NEGLIGIBLE:
        return unknown("clamped: a share of the values lies on the limits")
    return (
        dataclasses.replace(law, low=low, high=high) if law.kind == "truncated_normal" else law
    )


def _share_outside(law, low, high):
    """The share of a normal or truncated normal law that lies below low or above high."""
    begin, end = (-math.inf, math.inf) if law.kind == "normal" else (law.low, law.high)
    mass = _mass(law, begin, end)
    return 1 - _mass(law, max(begin, low), min(end, high)) / mass if mass > 0 else 1.0


def _mass(law, begin, end):
    return max(0.0, _cdf((end - law.mean) / law.std) - _cdf((begin - law.mean) / law.std))


def _cdf(z):
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _density(z):
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) if math.isfinite(z) else 0.0


def moments(law):
    """(mean, standard deviation) of a known law."""
    if law.kind == "constant":
        return law.value, 0.0
    if law.kind == "normal":
        return law.mean, law.std
    if law.kind == "uniform":
        return (law.low + law.high) / 2, (law.high - law.low) / math.sqrt(12)
    a, b = (law.low - law.mean) / law.std, (law.high - law.mean) / law.std
    mass = _cdf(b) - _cdf(a)
    shift = (_density(a) - _density(b)) / mass
    edge = (a * _density(a) if math.isfinite(a) else 0) - (
        b * _density(b) if math.isfinite(b) else 0
    )
    return law.mean + law.std * shift, law.std * math.sqrt(
        max(0.0, 1 + edge / mass - shift * shift)
    )


def limits(law):
    """(least, greatest) value that a known law can give."""
    if law.kind == "constant":
        return law.value, law.value
    return (-math.inf, math.inf) if law.kind == "normal" else (law.low, law.high)
