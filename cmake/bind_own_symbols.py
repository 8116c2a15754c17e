#!/usr/bin/env python3
"""Copies a shared library with DF_SYMBOLIC set: its own references then find its own symbols first, whatever another
library of the same program calls the same.

    bind_own_symbols.py LIBRARY COPY

Needs a 64-bit little-endian ELF file that has a DT_FLAGS entry, as all of Debian's hardened libraries do.
"""
import pathlib
import struct
import sys

PT_DYNAMIC, DT_NULL, DT_FLAGS, DF_SYMBOLIC = 2, 0, 30, 2


def dynamic_section(library):
    """(offset, size) in the file."""
    if library[:6] != b"\x7fELF\x02\x01":
        sys.exit("no 64-bit little-endian ELF file")
    (first,) = struct.unpack_from("<Q", library, 32)
    size, count = struct.unpack_from("<HH", library, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", library, first + i * size)
        if kind == PT_DYNAMIC:
            return offset, length
    sys.exit("no dynamic section: is it a shared library?")


def main():
    source, copy = map(pathlib.Path, sys.argv[1:])
    library = bytearray(source.read_bytes())
    offset, length = dynamic_section(library)
    for entry in range(offset, offset + length, 16):
        tag, value = struct.unpack_from("<QQ", library, entry)
        if tag == DT_FLAGS:
            struct.pack_into("<Q", library, entry + 8, value | DF_SYMBOLIC)
            if not copy.exists() or copy.read_bytes() != library:  # a new copy would link all programs again
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(library)
                copy.chmod(0o755)
            return
    sys.exit(f"{source} has no DT_FLAGS entry to set")


main()
