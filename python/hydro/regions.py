"""Takes regions such as `with torch.no_grad():` out of a graph. torch.export keeps each as a
graph inside the graph; here their nodes move into it, with their stacks.

Without gradients a region gives the same as when all that it reads is detached.
"""

import torch
from torch._higher_order_ops.wrap import wrap_with_autocast, wrap_with_set_grad_enabled

from hydro.aliases import base_of, written_argument
from hydro.errors import ExportError

_DETACH = torch.ops.aten.detach.default


def inline_regions(program, mode, place_of_node):
    """`place_of_node` gives file:line of a node. In the eval graph nothing is detached: no
    gradient flows there.
    """
    for region in iter(lambda: _first_region(program.graph), None):
        body = getattr(program.graph_module, _holder(region).target)
        _check(region, body, place_of_node)
        # Gradients are on around a graph, so that such a region always switches them off.
        without_gradients = region.target is wrap_with_set_grad_enabled and mode == "train"
        if without_gradients:
            _check_changes(program, region, body, place_of_node)
        _inline(program, region, body, without_gradients)
    program.graph.lint()
    program.graph_module.delete_all_unused_submodules()
    program.graph_module.recompile()


def _first_region(graph):
    kinds = (wrap_with_set_grad_enabled, wrap_with_autocast)
    return next((node for node in graph.nodes if node.target in kinds), None)


def _holder(region):
    """The node that names the region's body."""
    return next(a for a in region.args if isinstance(a, torch.fx.Node) and a.op == "get_attr")


def _arguments(region, body):
    """[(placeholder of the body, node outside)] of what the region reads."""
    placeholders = [node for node in body.graph.nodes if node.op == "placeholder"]
    return list(
        zip(
            placeholders,
            region.args[len(region.args) - len(placeholders) :],
            strict=True,
        )
    )


def _check(region, body, place_of_node):
    inside = next((n for n in body.graph.nodes if n.op == "call_function"), region)
    if region.target is wrap_with_autocast and region.args[2]:
        raise _region(
            "forward switches autocast on",
            "the archive holds the model as it computes in its own precision",
            "leave autocast out of forward, and write `amp: bf16` in the job",
            place_of_node(inside),
        )


def _region(what, why, do, where):
    return ExportError("H0218", what, where=where, why=why, do=do)


def _check_changes(program, region, body, place_of_node):
    """A value changed in place without gradients keeps the gradient that it had before; only of
    buffers this says nothing.
    """
    outside = dict(_arguments(region, body))
    for node in body.graph.nodes:
        changed = written_argument(node)
        base = None if changed is None else base_of(changed)
        if base in outside and _may_carry_gradient(program, outside[base]):
            raise _region(
                f"`{node.target}` changes a value in place inside torch.no_grad",
                "its gradient would be that of the value before the change",
                "change it by an operation that returns a new value",
                place_of_node(node),
            )


def _may_carry_gradient(program, node):
    value = node.meta.get("val")
    signature = program.graph_signature
    data = (
        *signature.inputs_to_buffers,
        *signature.inputs_to_lifted_tensor_constants,
        *signature.user_inputs,
    )
    return (
        isinstance(value, torch.Tensor) and value.is_floating_point() and node.name not in data
    )


def _inline(program, region, body, without_gradients):
    graph, values = program.graph, {}
    with graph.inserting_before(region):
        for placeholder, value in _arguments(region, body):
            if without_gradients and _may_carry_gradient(program, value):
                value = _detached(graph, value, region)
            values[placeholder] = value
        for node in body.graph.nodes:
            if node.op == "call_function":
                values[node] = graph.node_copy(node, values.__getitem__)
            elif node.op == "get_attr":
                values[node] = _moved_attribute(program, node, body)
    results = [n.args[0] for n in body.graph.nodes if n.op == "output"]
    for taken in list(region.users):
        result = values[results[0][taken.args[1]]]
        taken.replace_all_uses_with(result)
        program.graph_signature.replace_all_uses(taken.name, result.name)
        graph.erase_node(taken)
    holder = _holder(region)
    graph.erase_node(region)
    if not holder.users:
        graph.erase_node(holder)


def _detached(graph, value, region):
    node = graph.call_function(_DETACH, (value,))
    node.meta = {
        k: v for k, v in region.meta.items() if k in ("nn_module_stack", "stack_trace")
    }
    node.meta["val"] = value.meta["val"].detach()
    return node


def _moved_attribute(program, node, body):
    """What the body holds by name (a graph inside it) moves to the outer module."""
    root, name = program.graph_module, node.target
    while hasattr(root, name):
        name += "_"
    setattr(root, name, getattr(body, node.target))
    return program.graph.get_attr(name)
