"""Code that no graph can hold: custom autograd functions, TorchScript, chance drawn in
Python.
"""

import contextlib
import random
import sys

import torch

from hydro.errors import ExportError, place_of_caller
from hydro.inputs import place_of_code


class OpaqueCode:
    """Can refuse code whose forward torch.export would inline, losing its backward or branches.

    Takes the place of torch's entry points before the user's modules are imported: they may
    keep `Function.apply` under a name of their own.
    """

    def __init__(self):
        self._refused = False
        self._apply = torch.autograd.Function.__dict__["apply"]
        self._call = torch.jit.ScriptFunction.__call__

    def __enter__(self):
        def apply(cls, *args, **kwargs):
            if self._refused and cls.__module__.split(".")[0] != "torch":
                raise custom_autograd(f"{cls.__module__}.{cls.__qualname__}", place_of_caller())
            return self._apply.__get__(None, cls)(*args, **kwargs)

        def call(function, *args, **kwargs):
            if self._refused:
                raise scripted(
                    f"forward calls the script function `{function.name}`", place_of_caller()
                )
            return self._call(function, *args, **kwargs)

        torch.autograd.Function.apply = classmethod(apply)
        torch.jit.ScriptFunction.__call__ = call
        return self

    def __exit__(self, *exception):
        torch.autograd.Function.apply = self._apply
        torch.jit.ScriptFunction.__call__ = self._call

    @contextlib.contextmanager
    def refused(self):
        self._refused = True
        try:
            yield
        finally:
            self._refused = False


@contextlib.contextmanager
def refuse_python_chance(model):
    """A number that forward draws in Python becomes a constant of the graph, the same in every
    step.
    """
    before = _chance_states()
    yield
    if _chance_states() != before:
        raise ExportError(
            "H0222",
            f"the forward of {type(model).__name__} draws random numbers outside PyTorch",
            where=place_of_code(model.forward),
            why=(
                "a number drawn by random or numpy.random becomes a constant of the graph, "
                "the same in every step"
            ),
            do="draw it with torch.rand",
        )


def _chance_states():
    numpy = sys.modules.get("numpy")
    return random.getstate(), str(numpy.random.get_state()) if numpy else ""


def scripted(what, where):
    return ExportError(
        "H0214",
        what,
        where=where,
        why=(
            "scripted code is compiled apart and cannot be looked into, so that its widths "
            "cannot be found"
        ),
        do="use plain Python instead of torch.jit.script or torch.jit.trace",
    )


def custom_autograd(name, where):
    return ExportError(
        "H0213",
        f"the model uses the custom autograd function `{name}`",
        where=where,
        why=(
            "an exported graph holds forward operations only, so its backward would be lost "
            "without a word"
        ),
        do="write the operation with PyTorch's own functions, whose gradients are known",
    )
