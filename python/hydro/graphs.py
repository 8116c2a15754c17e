"""Makes the train and the eval graph by torch.export, and reads from them what the manifest
needs.
"""

import contextlib
import io
import re
import sys

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hydro.errors import (
    ExportError,
    best_place,
    first_line,
    place_of_exception,
)
from hydro.inputs import example_tensor, place_of_code
from hydro.outputs import common_outputs, register_outputs
from hydro.recurrent import whole_recurrent_layers
from hydro.refused_code import custom_autograd, refuse_python_chance
from hydro.regions import inline_regions

_DATA_DEPENDENT = (
    "GuardOnDataDependentSymNode",
    "data-dependent",
    "DataDependentOutputException",
    "UserErrorType.DYNAMIC_CONTROL_FLOW",
)
_SPECIALIZED = (
    "ConstraintViolationError",
    "Constraints violated",
    "specialized",
    "CONSTRAINT_VIOLATION",
)


class ForwardCall:
    """The tensors and constants of one call of forward, and which axis of each is the batch."""

    def __init__(self, inputs, constants, batch):
        self.inputs = inputs
        self.constants = constants
        self.batch = batch
        self.kwargs = {i.name: example_tensor(i, batch) for i in inputs} | constants
        axis = torch.export.Dim.DYNAMIC
        self.dynamic_shapes = {i.name: {i.batch_axis: axis} for i in inputs}
        self.dynamic_shapes |= {name: _no_axis(value) for name, value in constants.items()}


def _no_axis(value):
    return [_no_axis(item) for item in value] if isinstance(value, list) else None


def export_graphs(model, call, opaque_code):
    """{"train": ExportedProgram, "eval": ExportedProgram}."""
    graphs = {}
    for mode in ("train", "eval"):
        model.train(mode == "train")
        graphs[mode] = _export(model, call, mode, opaque_code)
        inline_regions(graphs[mode], mode, _place_of_node)
        _check_graph(graphs[mode], model, mode)
    return graphs


def _export(model, call, mode, opaque_code):
    try:
        with opaque_code.refused(), refuse_python_chance(model):
            return _torch_export(model, call, strict=False)
    except ExportError:
        raise
    except Exception as error:
        first = error
    with contextlib.suppress(Exception):
        return _torch_export(model, call, strict=True)
    raise _explain(first, model, call, mode) from first


def _torch_export(model, call, *, strict):
    """What torch prints while it fails is a dump of graphs; what forward prints is shown when
    it succeeds.
    """
    shapes = call.dynamic_shapes
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        whole_recurrent_layers(),
    ):
        program = torch.export.export(
            model, (), dict(call.kwargs), dynamic_shapes=shapes, strict=strict
        )
    sys.stderr.write(printed.getvalue())
    return program


def _explain(error, model, call, mode):
    """Why export failed, found by running forward once with real tensors."""
    try:
        with torch.no_grad():
            model(**call.kwargs)
    except Exception as failure:
        return _forward_failed(failure, model, call)
    text = f"{type(error).__name__} {error}"
    where = place_of_exception(error) or place_of_code(type(model).forward)
    if any(mark in text for mark in _DATA_DEPENDENT):
        return _data_decides("the model's control flow", where)
    if any(mark in text for mark in _SPECIALIZED):
        place, why = _try_another_batch(model, call)
        return batch_is_fixed(place or where, why)
    why = f"torch.export in {mode} mode: {first_line(error)}"
    do = "use tensor operations only in that line, or move it out of forward"
    if "output" in why and "type" in why:
        do = "return tensors, or tuples, lists and dicts of tensors"
    if "Cache" in why:
        do = "switch the cache off: `use_cache: false` in the model's config or in `forward`"
    return ExportError(
        "H0218", "torch.export cannot carry this model", where=where, why=why, do=do
    )


def check_forward(model, inputs, constants):
    """Runs forward once with real tensors: tracing does not see, for one, a wrong dtype."""
    call = ForwardCall(inputs, constants, 2)
    try:
        with torch.no_grad():
            model.eval()(**call.kwargs)
    except Exception as failure:
        raise _forward_failed(failure, model, call) from failure


def _data_decides(what, where):
    return ExportError(
        "H0212",
        f"{what} depends on the values of a tensor",
        where=where,
        why="a graph has no branches and fixed sizes: both must be known before the data are",
        do=(
            "write the choice with torch.where or a mask, or make it an argument of the "
            "constructor"
        ),
    )


def _try_another_batch(model, call):
    """(file:line, why) of a run with another batch size."""
    other = ForwardCall(call.inputs, call.constants, call.batch + 2)
    try:
        with torch.no_grad():
            model(**other.kwargs)
    except Exception as failure:
        return place_of_exception(
            failure
        ), f"with a batch of {other.batch}: {first_line(failure)}"
    return "", "forward turns the batch size into a plain number"


def _batch_that_works(failure, model, call):
    """A number that the failure names, where forward runs with it as its batch; else None."""
    for number in map(int, dict.fromkeys(re.findall(r"\b\d{1,4}\b", str(failure)))):
        if number in (0, call.batch):
            continue
        other = ForwardCall(call.inputs, call.constants, number)
        with contextlib.suppress(Exception), torch.no_grad():
            model(**other.kwargs)
            return number
    return None


def _forward_failed(failure, model, call):
    batch = _batch_that_works(failure, model, call)
    if batch:
        why = f"it runs with a batch of {batch}, not of {call.batch}: {first_line(failure)}"
        return batch_is_fixed(place_of_exception(failure), why)
    shapes = ", ".join(f"{i.name}={i.dtype}{_shape(i, call.batch)}" for i in call.inputs)
    return ExportError(
        "H0211",
        f"the forward of {type(model).__name__} fails on {shapes}",
        where=place_of_exception(failure) or place_of_code(type(model).forward),
        why=first_line(failure),
        do="correct the sizes or the dtype of --input (in a job: model.input)",
    )


def _shape(spec, batch):
    return "[" + ", ".join(str(batch if size is None else size) for size in spec.shape) + "]"


def batch_is_fixed(where, why):
    return ExportError(
        "H0215",
        "the model works for one batch size only",
        where=where,
        why=why,
        do=(
            "take the batch from x.shape instead of a number, and let `*` of --input stand at"
            " the batch axis"
        ),
    )


def _check_graph(program, model, mode):
    where = place_of_code(type(model).forward)
    for node in _nodes(program.graph_module):
        name = str(node.target)
        if "autograd_function_apply" in name:
            raise custom_autograd("autograd.Function", _place_of_node(node))
        if not _is_pytorchs(node.target):
            raise ExportError(
                "H0226",
                f"the model uses the operator `{name}`, which Hydro cannot run",
                where=_place_of_node(node) or where,
                why="a graph may hold PyTorch's own operations on tensors only, not those of "
                "packages, nor operations that take functions",
                do="write the operation with PyTorch's own functions",
            )
        if _is_complex(node.meta.get("val")):
            raise ExportError(
                "H0225",
                f"`{name}` computes with complex numbers",
                where=_place_of_node(node) or where,
                why="Hydro's operations, laws and optimizers are those of real numbers",
                do="compute with real and imaginary parts as two real tensors",
            )
        if free_unbacked_symbols(node.meta.get("val")):
            raise _data_decides(
                f"the number or the size that `{name}` gives", _place_of_node(node) or where
            )
    batches = [
        v for p in program.graph.nodes if p.op == "placeholder" for v in _free_symbols(p)
    ]
    if not batches:
        raise batch_is_fixed(where, f"torch.export made the batch a constant in {mode} mode")
    for symbol, limits in program.range_constraints.items():
        if symbol in batches and (limits.lower > 2 or limits.upper < 2**20):
            why = f"its batch must be between {limits.lower} and {limits.upper} in {mode} mode"
            raise batch_is_fixed(where, why)


def _is_pytorchs(target):
    """Arithmetic on sizes is done by Python's own functions."""
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace == "aten"
    return not isinstance(target, torch._ops.OperatorBase)


def _is_complex(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(v, torch.Tensor) and v.is_complex() for v in values)


def _free_symbols(placeholder):
    value = placeholder.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return []
    return [
        s
        for size in value.shape
        if isinstance(size, torch.SymInt)
        for s in size.node.expr.free_symbols
    ]


def _place_of_node(node):
    """file:line of the user's code that made a node, from its recorded stack."""
    places = []
    for line in (node.meta.get("stack_trace") or "").splitlines():
        parts = line.split('"')
        if len(parts) >= 3 and ", line " in parts[2]:
            places.append((parts[1], int(parts[2].split(", line ")[1].split(",")[0])))
    return best_place(places)


def _nodes(module):
    """Call nodes of a graph and of the graphs inside it."""
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield from (node for node in part.graph.nodes if node.op == "call_function")


def describe(programs, call, model):
    """The manifest's part about the graphs; makes their outputs ready to be written."""
    where = place_of_code(model.forward)
    outputs = common_outputs(programs, where)
    for program in programs.values():
        register_outputs(program)
    return {
        "inputs": [i.as_json() for i in call.inputs],
        "outputs": outputs,
        "forward": call.constants,
        "schemas": _operator_schemas(programs),
        "examples": {"batch": call.batch},
    }


def _operator_schemas(graphs):
    """{"aten.relu.default": "aten::relu(Tensor self) -> Tensor"} for every operator of both
    graphs.
    """
    found = {}
    for program in graphs.values():
        for node in _nodes(program.graph_module):
            if isinstance(node.target, torch._ops.OpOverload):
                found[str(node.target)] = str(node.target._schema)
    return dict(sorted(found.items()))
