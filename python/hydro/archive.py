"""Strips the graphs of their parameters and writes them and the manifest into one file
(docs/model-archive.md).
"""

import io
import json
import zipfile

import torch

from hydro.errors import ExportError, first_line
from hydro.output_file import write_whole

MANIFEST = "hydro_manifest.json"


def strip(programs, names):
    """Replaces trained parameters by shapes: Hydro draws them anew from the recorded laws."""
    for program in programs.values():
        for name in names:
            kept = program._state_dict[name]
            program._state_dict[name] = torch.nn.Parameter(
                torch.empty_like(kept, device="meta")
            )
        program._example_inputs = None  # else a pickle of the example tensors is written


def rename_files(programs, rename):
    """Changes the file names in the stacks that nodes carry."""
    for program in programs.values():
        for node in program.graph.nodes:
            if node.meta.get("stack_trace"):
                node.meta["stack_trace"] = rename(node.meta["stack_trace"])


def write_archive(path, graphs, manifest, where):
    """There is either the whole file or none."""
    write_whole(path, _pack(graphs, manifest, where))


def _pack(graphs, manifest, where):
    from torch.export.pt2_archive._package import package_pt2

    buffer = io.BytesIO()
    text = json.dumps(manifest, separators=(",", ":"), allow_nan=False)
    try:
        package_pt2(buffer, exported_programs=graphs, extra_files={MANIFEST: text})
    except Exception as error:
        do = (
            "return tensors, or tuples, lists and dicts of tensors, and keep special objects "
            "out of forward"
        )
        what = "torch cannot write the graph of this model"
        raise ExportError("H0218", what, where=where, why=first_line(error), do=do) from error
    return _compress(buffer)


def _compress(buffer):
    """The same archive with its JSON deflated (a tenth of the size) and without the empty
    example inputs.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(packed, "w") as target:
        for entry in source.infolist():
            if "/data/sample_inputs/" in entry.filename:
                continue
            content = source.read(entry)
            copy = zipfile.ZipInfo(
                entry.filename
            )  # the date stays 1980: equal models give equal files
            copy.compress_type = (
                zipfile.ZIP_DEFLATED if entry.filename.endswith(".json") else zipfile.ZIP_STORED
            )
            target.writestr(copy, content)
    return packed.getbuffer()
