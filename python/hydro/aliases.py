"""Which nodes of a graph write to a value, and which only view one."""

import operator

import torch


def written_argument(node):
    """The node whose value an in-place operation changes; else None."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return None
    return node.args[0] if node.args and isinstance(node.args[0], torch.fx.Node) else None


def is_view(node):
    """Also a piece of a list of views, as split gives it."""
    if node.target is operator.getitem:
        return True
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.arguments:
        return False
    alias = schema.arguments[0].alias_info
    return alias is not None and not alias.is_write


def base_of(node):
    """What a chain of views begins with."""
    while is_view(node) and node.args:
        node = node.args[0]
    return node


def with_views(node):
    """A node and all its views."""
    yield node
    for user in node.users:
        if is_view(user) and user.args[0] is node:
            yield from with_views(user)
