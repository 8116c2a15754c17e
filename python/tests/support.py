"""What the exporter's tests share: export a model of a user's module, read the archive back,
expect a refusal.
"""

import json
import os
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

from hydro import export  # noqa: E402
from hydro.errors import ExportError  # noqa: E402

USER_MODULES = ("user_models", "user_laws", "user_forwards", "user_nets")


class Exported:
    """An archive: its manifest, its graphs as JSON, and its entries."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.entries = {
                e.filename.partition("/")[2]: archive.read(e) for e in archive.infolist()
            }
        self.manifest = json.loads(self.entries["extra/hydro_manifest.json"])

    def graph(self, mode):
        return json.loads(self.entries[f"models/{mode}.json"])["graph_module"]["graph"]

    def targets(self, mode):
        return [node["target"] for node in self.graph(mode)["nodes"]]

    def laws(self, name):
        return self.manifest["initialization"][name]

    def law(self, name):
        (law,) = self.laws(name)
        return law


def export_model(target, *inputs, folder=HERE, **options):
    """Exports in this process; options such as kwargs={...} become --kwargs JSON."""
    for name in USER_MODULES:
        sys.modules.pop(name, None)  # each export imports it, as a process of its own would
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "model.pt2")
        export.export_file(export.parse(command(target, inputs, path, folder, options)))
        return Exported(path)


def command(target, inputs, path, folder=HERE, options=None):
    words = [target, "--folder", folder, "-o", path]
    for text in inputs or ("float32[*,4]",):
        words += ["--input", text]
    for name, value in (options or {}).items():
        words += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    return words


def refusal(target, *inputs, **options):
    """The error that an export ends with."""
    try:
        export_model(target, *inputs, **options)
    except ExportError as error:
        return error
    raise AssertionError(f"{target} was exported, not refused")


def marked(mark):
    """file:line of the user's line that holds `# mark: ...`."""
    for module in USER_MODULES:
        path = os.path.join(HERE, f"{module}.py")
        with open(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.rstrip().endswith(f"# mark: {mark}"):
                    return f"{path}:{number}"
    raise AssertionError(f"no mark {mark}")
