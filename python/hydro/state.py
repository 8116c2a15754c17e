"""The model's state-dict entries as the manifest lists them, and what in a model cannot be
carried.
"""

import torch

from hydro.errors import ExportError
from hydro.inputs import place_of_code
from hydro.refused_code import scripted

_DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)


def check_model(model, where):
    """Refuses what no archive can carry, before time is spent on it."""
    for name, module in model.named_modules():
        _check_module(name, module, where)
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        _check_tensor(name, tensor, where)
    if not any(p.requires_grad for p in model.parameters()):
        why = "it has no parameter, or all of them have requires_grad False"
        raise ExportError(
            "H0216",
            "the model has nothing to train",
            where=where,
            why=why,
            do="leave some parameters trainable",
        )


def _check_module(name, module, where):
    label = f"`{name}` ({type(module).__name__})" if name else type(module).__name__
    if type(module).__module__.startswith("torch.ao.nn.quantized"):
        do = "build the model without quantisation, and quantise what Hydro delivers"
        raise _state(
            f"the module {label} is quantised", "no gradient trains whole numbers", where, do
        )
    if isinstance(module, torch.jit.ScriptModule):
        raise scripted(f"the module {label} is TorchScript", where)
    for key, value in vars(module).items():
        if isinstance(value, (torch.jit.ScriptFunction, torch.ScriptObject)):
            raise scripted(
                f"`{key}` of the module {label} is a script object",
                place_of_code(type(module)) or where,
            )
    if type(module).get_extra_state is not torch.nn.Module.get_extra_state:
        place = place_of_code(type(module)) or where
        raise _state(
            f"the module {label} keeps extra state", "only tensors are in an archive", place
        )


def _state(what, why, where, do="keep in the model only dense CPU tensors of usual dtypes"):
    return ExportError("H0217", what, where=where, why=why, do=do)


def _check_tensor(name, tensor, where):
    kind = "parameter" if isinstance(tensor, torch.nn.Parameter) else "buffer"
    if torch.nn.parameter.is_lazy(tensor):
        do = "give the layer its sizes, or run the model once inside the callable"
        raise _state(
            f"the {kind} `{name}` has no shape yet", "it is a lazy parameter", where, do
        )
    if tensor.device.type != "cpu":
        do = "build the model on the CPU; Hydro places it later"
        raise _state(
            f"the {kind} `{name}` is on the device {tensor.device}",
            "graphs are exported on the CPU",
            where,
            do,
        )
    odd = _what_is_odd(tensor)
    if odd:
        raise _state(f"the {kind} `{name}` is no plain dense tensor", odd, where)
    if tensor.dtype not in _DTYPES:
        raise _state(
            f"the {kind} `{name}` has the dtype {_dtype(tensor)}",
            "Hydro computes with real numbers",
            where,
        )


def _what_is_odd(tensor):
    """Why a tensor is no plain dense one; else ""."""
    if tensor.is_quantized:
        return "it is quantised, and no gradient trains whole numbers"
    if tensor.layout != torch.strided:
        return f"it is sparse ({tensor.layout})"
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
        return f"it is a {type(tensor).__name__}"
    return ""


def _dtype(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def list_state(model, where):
    """[{"name", "kind", "dtype", "shape", "tie"}]: state-dict order, then buffers that no state
    dict holds.
    """
    entries = dict(model.state_dict(keep_vars=True))
    persistent = set(entries)
    buffers = {n for n, _ in model.named_buffers(remove_duplicate=False)}
    parameters = {n for n, _ in model.named_parameters(remove_duplicate=False)}
    missing = [n for n, _ in model.named_parameters() if n not in entries]
    odd = missing + [n for n in entries if n not in buffers | parameters]
    if odd:
        raise _state(
            f"the state dict renames `{odd[0]}`", "its names must be those of the model", where
        )
    entries |= {
        n: b for n, b in model.named_buffers(remove_duplicate=False) if n not in entries
    }
    state, holders = [], {}
    for name, tensor in entries.items():
        holder = holders.setdefault(_region(tensor), name)
        kind = _kind(tensor, name, persistent, parameters)
        tie = None if holder == name else holder
        state.append(
            {
                "name": name,
                "kind": kind,
                "dtype": _dtype(tensor),
                "shape": list(tensor.shape),
                "tie": tie,
            }
        )
    _refuse_overlaps(entries, holders, where)
    return state


def _kind(tensor, name, persistent, parameters):
    if name in parameters:
        return "parameter" if tensor.requires_grad else "frozen"
    return "buffer" if name in persistent else "nonpersistent"


def _region(tensor):
    if tensor.numel() == 0:
        return id(tensor)
    return (
        tensor.untyped_storage()._cdata,
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
    )


def _refuse_overlaps(entries, holders, where):
    """Two entries may be one tensor (tied) or two; parts of one another they may not be."""
    extents = {}
    for region, name in holders.items():
        if not isinstance(region, tuple):
            continue
        storage, begin, shape, strides = region
        end = (
            begin
            + 1
            + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        )
        for other_begin, other_end, other in extents.get(storage, []):
            if begin < other_end and other_begin < end:
                do = "give each its own tensor, or tie the whole tensors"
                raise _state(
                    f"`{other}` and `{name}` share a part of their memory",
                    "trained apart they would differ",
                    where,
                    do,
                )
        extents.setdefault(storage, []).append((begin, end, name))
