#!/usr/bin/env python3
"""Writes hydro/ir/operator_table.h: which ATen operators PyTorch itself tags as pointwise, and which as drawing
random numbers. Run with the pinned torch; the result is checked in.

    .venv/bin/python tools/operator_tags.py > hydro/ir/operator_table.h
"""
import torch

TAGS = {"kPointwise": torch.Tag.pointwise, "kRandom": torch.Tag.nondeterministic_seeded}


def overloads():
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        if namespace != "aten":
            continue
        base, _, overload = rest.partition(".")
        try:
            yield getattr(getattr(torch.ops.aten, base), overload or "default")
        except (AttributeError, RuntimeError):
            continue  # registered for a back end only


def gives_new_tensors(op):
    """No out= form, nothing written in place, tensors out."""
    schema = op._schema
    writes = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
    return not writes and bool(schema.returns) and all("Tensor" in str(r.type) for r in schema.returns)


def main():
    known = [op for op in overloads() if gives_new_tensors(op)]
    print("// hydro/ir/operator_table.h — PyTorch's own tags of its operators, sorted.")
    print(f"// Made by tools/operator_tags.py with torch {torch.__version__.split('+')[0]}.")
    print("#pragma once\n\n#include <array>\n#include <string_view>\n\nnamespace hydro::ir {\n")
    for constant, tag in TAGS.items():
        names = sorted(str(op) for op in known if tag in op.tags)
        print(f"inline constexpr auto {constant} = std::to_array<std::string_view>({{")
        print("".join(f'    "{name}",\n' for name in names) + "});")
    print("\n}  // namespace hydro::ir")


if __name__ == "__main__":
    main()
