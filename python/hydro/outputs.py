"""The outputs of the graphs: their names, and which of them a training can use."""

import contextlib

import torch
import torch.utils._pytree as pytree

from hydro.aliases import base_of, with_views, written_argument
from hydro.errors import ExportError


def common_outputs(programs, where):
    """[{"name", "index"}] of the tensors that both graphs give; index counts flat outputs."""
    found = {mode: _outputs(program) for mode, program in programs.items()}
    if not all(found.values()):
        raise _refused(
            "H0221",
            "forward returns no tensor",
            where,
            "without an output there is nothing to compare with the data",
            "return the logits, or the loss, from forward",
        )
    depending = {
        mode: {k: v for k, v in outputs.items() if v.depends} for mode, outputs in found.items()
    }
    if not all(depending.values()):
        raise _refused(
            "H0223",
            "no output of forward depends on the inputs",
            where,
            "what forward returns is the same for all data, so nothing can be learnt",
            "return what is computed from the inputs",
        )
    common = _common(depending["train"], depending["eval"])
    if not common:
        raise _refused(
            "H0224",
            "forward returns other outputs in training than in evaluation",
            where,
            f"in training {_listed(depending['train'])}, in evaluation "
            f"{_listed(depending['eval'])}",
            "let it return the same in both, the logits first",
        )
    return common


def _refused(id, what, where, why, do):
    return ExportError(id, what, where=where, why=why, do=do)


def _common(train, evaluation):
    """A lone output of evaluation is the first one of training: auxiliary heads fall away."""
    if list(evaluation) == [0] and 0 in train and train[0].shape == evaluation[0].shape:
        return [{"name": train[0].name, "index": 0}]
    return [
        {"name": output.name, "index": index}
        for index, output in train.items()
        if index in evaluation and evaluation[index].name == output.name
    ]


def _listed(outputs):
    return ", ".join(f"`{output.name}`" for output in outputs.values())


class _Output:
    def __init__(self, name, value, depends):
        self.name = name
        self.shape = [s if isinstance(s, int) else None for s in value.shape]
        self.depends = depends


def _outputs(program):
    """{index: _Output} of the tensors among the flat outputs of a graph."""
    spec = program.call_spec.out_spec
    names = _leaf_names(spec, "output" if spec.type in (list, tuple) else "")
    node = next(n for n in program.graph.nodes if n.op == "output")
    values = {n.name: n for n in pytree.tree_leaves(node.args) if isinstance(n, torch.fx.Node)}
    depending = _depending_on_inputs(program)
    found = {}
    for index, (name, flat) in enumerate(
        zip(names, program.graph_signature.user_outputs, strict=True)
    ):
        value = values.get(flat) if isinstance(flat, str) else None
        if value is not None and isinstance(value.meta.get("val"), torch.Tensor):
            found[index] = _Output(name or "output", value.meta["val"], value in depending)
    return found


def _depending_on_inputs(program):
    """The nodes whose values depend on those of a user's input, not only on its sizes."""
    inputs = set(program.graph_signature.user_inputs)
    reached = set()
    for node in program.graph.nodes:
        is_size = isinstance(
            node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)
        )
        given = node.op == "placeholder" and node.name in inputs
        if given or (not is_size and any(n in reached for n in node.all_input_nodes)):
            reached.add(node)
            written = written_argument(node)
            if written is not None:
                reached.update(with_views(base_of(written)))
    return reached


def register_outputs(program):
    """Gives named tuples among the outputs a name, without which torch does not write them."""
    specs = [program.call_spec.out_spec]
    while specs:
        spec = specs.pop()
        if spec.type is pytree.namedtuple and isinstance(spec.context, type):
            kind = spec.context
            with contextlib.suppress(ValueError):
                pytree._register_namedtuple(
                    kind, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}"
                )
        specs += [] if spec.is_leaf() else spec.children()


def _leaf_names(spec, path):
    """Names of a treespec's leaves in order: keys of mappings and fields, numbers in lists and
    tuples.
    """
    if spec.is_leaf():
        yield path
        return
    for key, child in zip(_keys(spec), spec.children(), strict=True):
        yield from _leaf_names(child, f"{path}.{key}" if path else key)


def _keys(spec):
    fields = getattr(spec.context, "_fields", None) or getattr(spec.type, "_fields", None)
    keys = fields if fields else spec.context
    if (
        spec.type in (list, tuple)
        or not isinstance(keys, (list, tuple))
        or len(keys) != spec.num_children
    ):
        keys = range(spec.num_children)
    return [str(key) for key in keys]
