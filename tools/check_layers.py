#!/usr/bin/env python3
"""Fails on an include that tools/layers.txt does not allow, on libtorch outside its door, and on banned headers."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOOR = "hydro/ops/torch.h"
TORCH = re.compile(r'^#include <(ATen|c10|torch|caffe2)/')
BANNED = ("torch/torch.h", "torch/script.h", "torch/extension.h", "torch/all.h")
INCLUDE = re.compile(r'^#include "hydro/(\w+)/')


def read_layers():
    allowed, torch_rooms = {}, set()
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            room, rooms = line.split(":")
            if room.endswith("*"):
                room = room[:-1]
                torch_rooms.add(room)
            allowed[room] = {room, "base", *rooms.split()}
    return allowed, torch_rooms


def problems():
    allowed, torch_rooms = read_layers()
    for path in sorted(ROOT.glob("hydro/*/*.[ch]*")):
        room, is_test = path.parent.name, path.stem.endswith("_test") or path.stem == "testing"
        name = path.relative_to(ROOT).as_posix()
        if room not in allowed:
            yield f"{name}: room `{room}` is not in tools/layers.txt"
            continue
        # Tests may include any room below their own: whatever the room reaches.
        reach, todo = set(allowed[room]), list(allowed[room])
        while is_test and todo:
            more = allowed.get(todo.pop(), set()) - reach
            reach |= more
            todo += more
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{name}:{number}"
            if match := INCLUDE.match(line):
                if match[1] not in reach:
                    yield f"{where}: room `{room}` may not include room `{match[1]}` (tools/layers.txt)"
                if f'"{DOOR}"' in line and room not in torch_rooms:
                    yield f"{where}: room `{room}` may not include libtorch"
            if any(f"<{header}>" in line for header in BANNED):
                yield f"{where}: banned umbrella header of torch"
            if TORCH.match(line) and name != DOOR:
                yield f"{where}: libtorch is included through {DOOR} only"


def cmake_problems():
    """CMakeLists.txt must not link what layers.txt does not allow."""
    allowed, _ = read_layers()
    text = (ROOT / "CMakeLists.txt").read_text()
    for room, rest in re.findall(r"hydro_room\((\w+) ([^)]*)\)", text):
        words = rest.split(" LINK ")[0].replace("PRIVATE_DEPS", "").replace("DEPS", "").replace("TORCH", "").split()
        for dep in [] if rest.startswith("LINK") else words:
            if dep not in allowed[room]:
                yield f"CMakeLists.txt: room `{room}` links `{dep}`, which tools/layers.txt does not allow"


if __name__ == "__main__":
    found = [*problems(), *cmake_problems()]
    print("\n".join(found) or "layers: ok")
    sys.exit(bool(found))
