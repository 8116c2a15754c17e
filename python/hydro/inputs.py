"""Reads `--input` texts such as `x=float32[*, 3, 28, 28]` and makes examples of them."""

import dataclasses
import difflib
import inspect
import math
import re

import torch

from hydro.errors import ExportError, first_line

DTYPES = {
    name: getattr(torch, name)
    for name in "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
}
_FORM = re.compile(r"\s*(?:([A-Za-z_]\w*)\s*=)?\s*(\w+)\s*\[([^\[\]]*)\]\s*$")
# Primes, so that a batch is told from a width and from a product of widths; 1 is special to
# torch.export.
_BATCHES = (5, 7, 11, 13, 17, 19, 23)
_MOST_NUMBERS = 2**31  # in one sample
_MOST_DIGITS = 18  # of a size that a 64-bit integer holds


@dataclasses.dataclass
class Input:
    name: str  # empty until bound to forward's parameter
    dtype: str
    shape: list  # None at the batch axis
    text: str

    @property
    def batch_axis(self):
        return self.shape.index(None)

    def as_json(self):
        return {
            "name": self.name,
            "dtype": self.dtype,
            "shape": self.shape,
            "batch_axis": self.batch_axis,
        }


def _bad(text, why, do="write it as float32[*,3,28,28], with * for the batch"):
    return ExportError("H0209", f"cannot read the input `{text}`", why=why, do=do)


def parse_input(text):
    match = _FORM.match(text)
    if not match:
        raise _bad(text, "it is not of the form [name=]dtype[sizes]")
    name, dtype, sizes = match.groups()
    if dtype not in DTYPES:
        near = difflib.get_close_matches(dtype, DTYPES, 1)
        why = f"`{dtype}` is no dtype of an input; there are {', '.join(DTYPES)}"
        raise _bad(text, why, f"did you mean `{near[0]}`?" if near else "use one of these")
    shape = [_parse_size(text, size.strip()) for size in sizes.split(",")]
    if shape.count(None) != 1:
        raise _bad(text, f"it has {shape.count(None)} `*`; exactly one size must be the batch")
    if math.prod(size for size in shape if size) > _MOST_NUMBERS:
        raise _too_large(text, f"one sample has more than {_MOST_NUMBERS} numbers")
    return Input(name or "", dtype, shape, text)


def _parse_size(text, size):
    if size == "*":
        return None
    digits = size.lstrip("0")
    if not digits or not re.fullmatch("[0-9]+", digits):
        raise _bad(text, f"`{size}` is neither a size of at least 1 nor *")
    if len(digits) > _MOST_DIGITS:
        raise _too_large(text, f"no tensor has the size `{size}`")
    return int(digits)


def _too_large(text, why):
    return _bad(text, why, "give the sizes of one sample, with * for the batch")


def bind_inputs(inputs, model, constants):
    """Names every input after a parameter of forward, and puts them into forward's order."""
    signature = inspect.signature(model.forward)
    where = place_of_code(model.forward)
    parameters = signature.parameters
    positional = [
        p.name
        for p in parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(inputs) == 1 and not inputs[0].name:
        if not positional:
            raise _mismatch(model, "forward takes no positional parameter", where)
        inputs[0].name = positional[0]
    _refuse_bad_names(inputs, model, parameters, where)
    _refuse_bad_constants(constants, inputs, model, parameters, where)
    given = {i.name for i in inputs} | set(constants)
    missing = [
        p.name
        for p in parameters.values()
        if p.default is p.empty
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and p.name not in given
    ]
    if missing:
        raise _mismatch(model, f"forward also needs `{'`, `'.join(missing)}`", where)
    order = {name: k for k, name in enumerate(parameters)}
    return sorted(inputs, key=lambda i: order[i.name])


def complete_constants(model, constants):
    """The cache of past tokens that language models return is of no use in training."""
    if (
        "use_cache" in constants
        or "use_cache" not in inspect.signature(model.forward).parameters
    ):
        return constants
    return constants | {"use_cache": False}


def _mismatch(
    model,
    why,
    where,
    do="name each input after a parameter of forward: --input name=dtype[sizes]",
):
    what = f"the inputs do not fit the forward of {type(model).__name__}"
    return ExportError("H0210", what, where=where, why=why, do=do)


def _refuse_bad_names(inputs, model, parameters, where):
    names = [i.name for i in inputs]
    usable = [
        p.name
        for p in parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    if any(p.kind == p.POSITIONAL_ONLY for p in parameters.values()):
        usable = [
            p.name
            for p in parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
    for name in names:
        if not name:
            raise _mismatch(model, "there are several inputs and one has no name", where)
        if names.count(name) > 1:
            raise _mismatch(model, f"the input `{name}` is given twice", where)
        if name not in usable:
            raise _mismatch(
                model,
                f"forward has no parameter `{name}`; it has {', '.join(usable)}",
                where,
                _near(name, usable),
            )


def _near(name, names):
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean `{near[0]}`?" if near else "use one of these names"


def _refuse_bad_constants(constants, inputs, model, parameters, where):
    open_ended = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    for name, value in constants.items():
        if name in {i.name for i in inputs}:
            raise _forward_constant(name, "it is an input as well", where)
        if name not in parameters and not open_ended:
            raise _forward_constant(
                name, f"forward of {type(model).__name__} has no such parameter", where
            )
        if isinstance(value, dict):
            raise _forward_constant(
                name,
                "only null, true, false, numbers, strings and lists of these are baked in",
                where,
            )


def _forward_constant(name, why, where):
    do = "give in `forward` what forward takes beside its tensors"
    return ExportError(
        "H0220", f"cannot bake in the forward argument `{name}`", where=where, why=why, do=do
    )


def place_of_code(function):
    """file:line where a function or class is defined, or ""."""
    try:
        function = getattr(function, "func", function)  # of a functools.partial
        function = inspect.unwrap(getattr(function, "__func__", function))
        if inspect.isclass(function):
            return f"{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}"
        return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
    except (TypeError, OSError, AttributeError):
        return ""


def choose_batch(model, inputs):
    """The first prime that is no size of any parameter, buffer or input."""
    sizes = {size for t in (*model.parameters(), *model.buffers()) for size in t.shape}
    sizes |= {size for i in inputs for size in i.shape}
    return next(p for p in (*_BATCHES, 29) if p not in sizes or p == 29)


def example_tensor(spec, batch):
    """Whole numbers are 0 and 1 in turn: valid as tokens, classes and masks alike."""
    shape = [batch if size is None else size for size in spec.shape]
    try:
        return _filled(shape, DTYPES[spec.dtype])
    except RuntimeError as error:  # of the allocator
        what = f"cannot make an example of the input `{spec.text}`"
        do = "give smaller sizes, or export where there is more memory"
        raise ExportError("H0209", what, why=first_line(error), do=do) from error


def _filled(shape, dtype):
    if dtype.is_floating_point:
        generator = torch.Generator().manual_seed(1)
        return torch.randn(shape, generator=generator).to(dtype)
    count = torch.Size(shape).numel()
    return (torch.arange(count) % 2).reshape(shape).to(dtype)
