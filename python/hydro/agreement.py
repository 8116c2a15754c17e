"""Statistics over several builds: do values follow a recorded law, and which law do computed
values follow.

`builds` is a list of flat double tensors, the same elements of one parameter as each build made
them. All limits are six standard errors, and builds use fixed seeds: a right law is not refused
by chance.
"""

import math

import torch

from hydro import laws

_ERRORS = 6.0
_FEWEST_TO_FIT = 500


def agrees(law, builds, precision):
    """Whether the values of every build are what the law gives. `precision`: relative rounding
    of the dtype.
    """
    values = torch.cat(builds)
    if values.numel() == 0:
        return True
    low, high = laws.limits(law)
    slack = precision * max((abs(x) for x in (low, high) if math.isfinite(x)), default=0.0)
    # Written so that a NaN fails too.
    if not (
        values.min() >= low - slack
        and values.max() <= high + slack
        and bool(values.abs().max() < math.inf)
    ):
        return False
    if law.kind == "constant":
        return True
    mean, std = laws.moments(law)
    count = values.numel()
    if abs(float(values.mean()) - mean) > _ERRORS * std / math.sqrt(count) + precision * abs(
        mean
    ):
        return False
    if count < 64:
        return True
    ratio = float(((values - mean) ** 2).mean()) / std**2
    return abs(ratio - 1) < _ERRORS * math.sqrt(2 / count) + 4 * precision


def same_in_all(builds):
    return all(torch.equal(builds[0], other) for other in builds[1:])


def as_constants(values, rows):
    """Rows of equal values as constant pieces [(first, last + 1, law)]; None when they are no
    few constants.
    """
    if bool((values == values[0]).all()):
        return [(0, rows, laws.constant(float(values[0]), source="fitted"))]
    table = values.reshape(rows, -1)
    if rows > 8 or not bool((table == table[:, :1]).all()):
        return None
    return [(k, k + 1, laws.constant(float(table[k, 0]), source="fitted")) for k in range(rows)]


def fit(builds, rows, precision):
    """(law, "") that computed values follow, or (None, why they follow none)."""
    values = torch.cat(builds)
    if not bool(torch.isfinite(values).all()):
        return None, "its values are not finite"
    if values.numel() < _FEWEST_TO_FIT:
        return (
            None,
            f"{values.numel()} values over {len(builds)} builds are too few to tell its law",
        )
    # Two independent draws of a continuous law are hardly ever equal.
    if float((builds[0] == builds[1]).double().mean()) > max(1e-3, precision):
        return None, "a part of its values is the same in every build"
    std = float(values.std())
    trouble = _dependence(builds, rows, float(values.mean()), std)
    if trouble:
        return None, trouble
    return _nearest_law(values, std)


def _dependence(builds, rows, mean, std):
    """Why the values are not drawn independently of one another and alike, or ""."""
    count = builds[0].numel()
    centred = [(b - mean) / std for b in builds]
    for power, what in ((1, "values"), (2, "spread")):
        for k, first in enumerate(centred):
            for second in centred[k + 1 :]:
                if abs(_correlation(first**power, second**power)) > _ERRORS / math.sqrt(count):
                    return f"its {what} at one place repeat from build to build"
    if rows < 2 or count // rows < 2:
        return ""
    table = torch.stack([c.reshape(rows, -1) for c in centred])
    kurtosis = float((table**4).mean())
    for axis, line in ((2, "rows"), (1, "columns")):
        size = table.shape[axis]
        if _uneven((table**2).mean(axis), (kurtosis - 1) / size):
            return f"the length of its {line} is not what independent values give"
        if _uneven(table.mean(axis), 1 / size):
            return f"the mean of its {line} is not what independent values give"
    return ""


def _uneven(numbers, expected_variance):
    numbers = numbers.flatten()
    if numbers.numel() < 40 or expected_variance <= 0:
        return False
    ratio = float(numbers.var()) / expected_variance
    # Means of squares are skewed when a line is short: the upper limit is wider than the lower
    # one.
    wide = _ERRORS * math.sqrt(2 / numbers.numel())
    return ratio < 1 - min(wide, 0.9) or ratio > 1 + 2 * wide


def _correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    scale = float((a * a).sum() * (b * b).sum()) ** 0.5
    return float((a * b).sum()) / scale if scale > 0 else 0.0


def _nearest_law(values, std):
    count = values.numel()
    ordered = values.sort().values
    mean = float(values.mean())
    if abs(mean) < 4 * std / math.sqrt(count):
        mean = 0.0
    low, high = _uniform_limits(float(ordered[0]), float(ordered[-1]), count)
    candidates = [
        (
            laws.normal(_round(mean), _round(std), source="fitted"),
            _normal_share(ordered, mean, std),
        ),
        (
            laws.uniform(_round(low), _round(high), source="fitted"),
            ((ordered - low) / (high - low)).clamp(0, 1),
        ),
    ]
    distance, law = min(
        ((_distance(share), law) for law, share in candidates), key=lambda pair: pair[0]
    )
    if distance > 1.6 / math.sqrt(count):
        return None, "its values are spread neither as a normal nor as a uniform law"
    return law, ""


def _uniform_limits(least, greatest, count):
    """The extremes of many uniform values lie just inside the limits; a limit of 0 or -high is
    meant exactly.
    """
    gap = (greatest - least) / (count - 1)
    low, high = least - gap, greatest + gap
    if abs(low + high) < 8 * gap:
        half = (high - low) / 2
        return -half, half
    return (0.0 if abs(low) < 8 * gap else low), (0.0 if abs(high) < 8 * gap else high)


def _round(number):
    return float(f"{number:.3g}")


def _normal_share(ordered, mean, std):
    return 0.5 * torch.erfc(-(ordered - mean) / (std * math.sqrt(2)))


def _distance(expected):
    """Kolmogorov's distance between the shares of sorted values that a law expects below each,
    and theirs.
    """
    count = expected.numel()
    steps = torch.arange(1, count + 1, dtype=torch.float64) / count
    return float(
        torch.maximum((steps - expected).abs(), (steps - 1 / count - expected).abs()).max()
    )
