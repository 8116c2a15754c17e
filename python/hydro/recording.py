"""Watches a model being built: which law the elements of every storage were last filled by.

A storage is a list of pieces (begin, end, law) over its elements. An operation that writes a
region replaces the pieces there; one that copies carries them along; arithmetic with plain
numbers transforms the laws; any other operation makes the law unknown, and statistics over
several builds decide later.
"""

import dataclasses

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from hydro import laws
from hydro.errors import initializer_of_caller, place_of_caller

OUTSIDE = laws.unknown(
    "values that PyTorch operations did not make while the model was built", outside=True
)
UNINITIALIZED = laws.unknown("left as torch.empty made it, never filled", settled=True)
_NO_ROWS = laws.unknown(
    "it was filled by columns or by another part that is no block of rows", settled=True
)


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self._pieces = {}
        # Weak references keep the addresses, and so the keys, from being used again; they hold
        # no data.
        self._held = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        operation = _Operation(func, args, kwargs)
        plan = _plan(self, operation)
        out = func(*args, **kwargs)
        if plan is not None:
            self._carry_out(plan, operation, out)
        return out

    def _carry_out(self, pieces, operation, out):
        if operation.mutated:
            targets = operation.mutated
        else:
            sources = {_key(t) for t in operation.tensors}
            targets = [t for t in _tensors_in(out) if _key(t) not in sources]
        for target in targets:
            self.write(target, pieces)

    def read(self, tensor):
        """Pieces over the elements of a tensor in row-major order, complete."""
        count = tensor.numel()
        if count == 0:
            return []
        begin = tensor.storage_offset()
        if tensor.is_contiguous():
            found = _cut(self._known(tensor), begin, begin + count)
            return merge([(a - begin, b - begin, law) for a, b, law in found])
        found = merge(_cut(self._known(tensor), begin, begin + _span(tensor)))
        if len(found) == 1:
            return [(0, count, found[0][2])]
        return [(0, count, _NO_ROWS)]

    def _known(self, tensor):
        whole = (0, tensor.storage_offset() + _span(tensor), OUTSIDE)
        return self._pieces.get(_key(tensor)) or [whole]

    def write(self, tensor, pieces):
        if tensor.numel() == 0:
            return
        begin, end = tensor.storage_offset(), tensor.storage_offset() + _span(tensor)
        old = self._known(tensor)
        if not tensor.is_contiguous():
            pieces = self._flat_law(tensor, pieces, old, begin, end)
        new = [(begin + a, min(begin + b, end), law) for a, b, law in pieces]
        key = _key(tensor)
        if key not in self._held:
            self._held[key] = StorageWeakRef(tensor.untyped_storage())
        length = max(end, old[-1][1])
        self._pieces[key] = merge(_cut(old, 0, begin) + new + _cut(old, end, length))

    def _flat_law(self, tensor, pieces, old, begin, end):
        """One law for all elements between begin and end of a tensor that is not row-major."""
        span = end - begin
        kinds = {law for _, _, law in pieces}
        if len(kinds) == 1 and span == tensor.numel():
            return [(0, span, kinds.pop())]
        if len(kinds) == 1 and kinds == {law for _, _, law in _cut(old, begin, end)}:
            return [(0, span, kinds.pop())]
        return [(0, span, _NO_ROWS)]


def rows_of(pieces, shape):
    """[(first row, last row + 1, law)] over dimension 0; one unknown piece where a law changes
    inside a row.
    """
    rows = shape[0] if shape else 1
    size = 1
    for extent in shape[1:]:
        size *= extent
    if any(a % size or b % size for a, b, _ in pieces):
        return [(0, rows, _NO_ROWS)]
    return [(a // size, b // size, law) for a, b, law in pieces]


def merge(pieces):
    """Joins neighbours of the same law and drops empty pieces."""
    merged = []
    for begin, end, law in pieces:
        if begin >= end:
            continue
        if merged and merged[-1][2] == law and merged[-1][1] == begin:
            merged[-1] = (merged[-1][0], end, law)
        else:
            merged.append((begin, end, law))
    return merged


def _cut(pieces, begin, end):
    cut = [(max(a, begin), min(b, end), law) for a, b, law in pieces if a < end and b > begin]
    reach = cut[-1][1] if cut else begin
    return cut if reach >= end else [*cut, (reach, end, OUTSIDE)]


def _key(tensor):
    return tensor.untyped_storage()._cdata


def _span(tensor):
    """Elements of storage from the tensor's first to its last."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def _tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value] if value.layout == torch.strided else []
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in _tensors_in(item)]
    return []


class _Operation:
    """A dispatched call: its name, its arguments by name, and the tensors it reads and
    writes.
    """

    def __init__(self, func, args, kwargs):
        schema = func._schema
        namespace, _, name = schema.name.partition("::")
        self.name = name if namespace == "aten" else schema.name
        self.arguments = {}
        self.mutated = []
        for k, argument in enumerate(schema.arguments):
            value = (
                args[k] if k < len(args) else kwargs.get(argument.name, argument.default_value)
            )
            self.arguments[argument.name] = value
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.mutated += _tensors_in(value)
        self.tensors = [t for value in self.arguments.values() for t in _tensors_in(value)]

    def __getitem__(self, name):
        return self.arguments.get(name)


def _plan(recorder, operation):
    """The pieces that the operation writes; None when it writes nothing that matters
    (views).
    """
    row = _ROWS.get(
        operation.name.rstrip("_") if operation.name not in _ROWS else operation.name
    )
    if row is not None:
        return row(recorder, operation)
    return _computed(recorder, operation)


def _computed(recorder, operation):
    read = [law for t in operation.tensors for _, _, law in recorder.read(t)]
    lost = next((law for law in read if law.outside), None)
    lost = lost or next(
        (law for law in read if not law.known and law is not UNINITIALIZED), None
    )
    return _everywhere(_placed(lost) if lost else _computed_by(operation.name.rstrip("_")))


def _computed_by(name):
    initializer = initializer_of_caller()
    why = f"computed by {name}" + (f" in {initializer}" if initializer else "")
    return laws.unknown(why, operation=name, where=place_of_caller())


def _everywhere(law):
    return [(0, 1 << 62, law)]


def _scalar(recorder, value):
    """A plain number, or a one-element tensor that holds a constant; else None."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            return None
        found = recorder.read(value)[0][2]
        if found.kind == "constant":
            return found.value
        plain = found.outside and value.device.type == "cpu" and not value.is_complex()
        return float(value.item()) if plain else None
    return float(value) if isinstance(value, (int, float)) else None


def _map(recorder, operation, change, tensor=None):
    tensor = operation["self"] if tensor is None else tensor
    return [(a, b, change(law)) for a, b, law in recorder.read(tensor)]


def _fill(recorder, operation):
    value = operation["value"] if "value" in operation.arguments else operation["fill_value"]
    number = _scalar(recorder, value)
    return (
        _computed(recorder, operation) if number is None else _everywhere(laws.constant(number))
    )


def _constant(value):
    return lambda recorder, operation: _everywhere(laws.constant(value))


def _uniform(recorder, operation):
    begin, end = operation["from"], operation["to"]
    begin, end = (0.0, 1.0) if begin is None and end is None else (begin, end)
    return _everywhere(
        laws.uniform(begin, end, own_generator=operation["generator"] is not None)
    )


def _normal(recorder, operation):
    mean, std = operation["mean"], operation["std"]
    mean, std = (0.0 if mean is None else mean), (1.0 if std is None else std)
    if isinstance(mean, torch.Tensor) or isinstance(std, torch.Tensor):
        return _computed(recorder, operation)
    return _everywhere(laws.normal(mean, std, own_generator=operation["generator"] is not None))


def _linear(scale_shift):
    """A row for an operation that is affine in `self` when its other operand is a plain
    number.
    """

    def row(recorder, operation):
        tensor, other = operation["self"], operation["other"]
        number = _scalar(recorder, other)
        if number is None and operation.name == "mul" and _scalar(recorder, tensor) is not None:
            tensor, number = other, _scalar(recorder, tensor)
        alpha = operation["alpha"]
        if number is None or operation["rounding_mode"] or not _same_size(tensor, operation):
            return _computed(recorder, operation)
        scale, shift = scale_shift(number, 1.0 if alpha is None else float(alpha))
        return _map(recorder, operation, lambda law: laws.affine(law, scale, shift), tensor)

    return row


def _same_size(tensor, operation):
    """Whether the result has the tensor's elements (a one-element operand of more dimensions
    adds some).
    """
    return all(t.dim() <= tensor.dim() for t in operation.tensors)


def _erfinv(recorder, operation):
    return _map(recorder, operation, laws.inverse_error_function)


def _clamp(recorder, operation):
    low, high = operation["min"], operation["max"]
    if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
        return _computed(recorder, operation)
    return _map(recorder, operation, lambda law: laws.clamp(law, low, high))


def _copy(recorder, operation):
    source, target = operation["src"], operation["self"]
    if source is None:
        return recorder.read(target)
    pieces = _map(recorder, operation, _placed, source)
    if source.shape == target.shape or len(pieces) == 1:
        return [(0, target.numel(), pieces[0][2])] if len(pieces) == 1 else pieces
    return _everywhere(laws.unknown("copied from a smaller tensor"))


def _placed(law):
    """Values from outside carry the place where they came into the model."""
    if not law.outside or law.where:
        return law
    return dataclasses.replace(law, where=place_of_caller())


def _cat(recorder, operation):
    parts = [t for t in operation["tensors"] if t.numel()]
    dim = operation["dim"] or 0
    pieces, start = [], 0
    for part in parts:
        pieces += [(start + a, start + b, law) for a, b, law in recorder.read(part)]
        start += part.numel()
    pieces = merge(pieces)
    if dim == 0 or len(pieces) == 1:
        return pieces
    return _computed(recorder, operation)


def _nothing(recorder, operation):
    return None


# Names without their trailing underscore: in-place and out-of-place forms follow the same rule.
_ROWS = {
    **dict.fromkeys(
        ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"),
        lambda r, o: _everywhere(UNINITIALIZED),
    ),
    **dict.fromkeys(("zero", "zeros", "zeros_like", "new_zeros"), _constant(0.0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), _constant(1.0)),
    **dict.fromkeys(("fill", "full", "full_like", "new_full"), _fill),
    **dict.fromkeys(("uniform", "rand", "rand_like"), _uniform),
    **dict.fromkeys(("normal", "normal_functional", "randn", "randn_like"), _normal),
    "mul": _linear(lambda number, alpha: (number, 0.0)),
    "div": _linear(lambda number, alpha: (1.0 / number if number else float("inf"), 0.0)),
    "add": _linear(lambda number, alpha: (1.0, alpha * number)),
    "sub": _linear(lambda number, alpha: (1.0, -alpha * number)),
    "rsub": _linear(lambda number, alpha: (-alpha, number)),
    "neg": lambda r, o: _map(r, o, lambda law: laws.affine(law, -1.0, 0.0)),
    "erfinv": _erfinv,
    "clamp": _clamp,
    **dict.fromkeys(("copy", "clone", "_to_copy", "lift_fresh_copy"), _copy),
    "cat": _cat,
    **dict.fromkeys(
        (
            "detach",
            "alias",
            "lift_fresh",
            "set",
            "resize",
            "requires_grad",
            "_local_scalar_dense",
        ),
        _nothing,
    ),
}
