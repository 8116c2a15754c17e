"""Recurrent layers as torch.export should see them: one operation that gives shapes.

Left alone, it computes every step of every layer with symbolic sizes only to learn these
shapes, which takes most of the time of an export.
"""

import contextlib

import torch

_ATEN = torch.ops.aten


@contextlib.contextmanager
def whole_recurrent_layers():
    """Meanwhile recurrent layers on tensors without data give new ones of their shapes."""
    rules = {
        _ATEN.lstm.input: _lstm,
        _ATEN.gru.input: _one_state,
        _ATEN.rnn_tanh.input: _one_state,
        _ATEN.rnn_relu.input: _one_state,
    }
    kept = {op: dict(op.py_kernels) for op in rules}
    _replace({op: dict.fromkeys(kept[op], rule) for op, rule in rules.items()})
    try:
        yield
    finally:
        _replace(kept)


def _replace(kernels):
    for op, by_key in kernels.items():
        op.py_kernels.clear()
        op.py_kernels.update(by_key)
        op._dispatch_cache.clear()


def _lstm(data, states, params, has_biases, layers, dropout, train, bidirectional, batch_first):
    output = _output(data, states[0], params, bidirectional, batch_first)
    return output, *(_new(state.shape, data, params) for state in states)


def _one_state(
    data, state, params, has_biases, layers, dropout, train, bidirectional, batch_first
):
    output = _output(data, state, params, bidirectional, batch_first)
    return output, _new(state.shape, data, params)


def _output(data, state, params, bidirectional, batch_first):
    """Time comes first in memory, whatever the order of the axes, as PyTorch computes it."""
    steps, batch = data.shape[:2][::-1] if batch_first else data.shape[:2]
    width = state.shape[-1] * (2 if bidirectional else 1)
    output = _new((steps, batch, width), data, params)
    return output.transpose(0, 1) if batch_first else output


def _new(shape, data, params):
    trained = torch.is_grad_enabled() and any(t.requires_grad for t in (data, *params))
    # A copy of a leaf is none, so that it may be changed in place.
    return data.new_empty(shape, requires_grad=trained).clone()
