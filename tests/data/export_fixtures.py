"""Makes the .pt2 files beside it: `python tests/data/export_fixtures.py [name ...]`.

File names inside are relative to the repository or to site-packages, so that the result depends
on no machine.
"""

import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from hydro import export  # noqa: E402

FIXTURES = {
    "mlp": ("mlp", "float32[*,784]"),
    "cnn": ("Cnn", "float32[*,1,28,28]"),
    "resnet_tiny": ("resnet_tiny", "float32[*,3,28,28]"),
    "depthwise": ("Depthwise", "float32[*,3,16,16]"),
    "pools": ("Pools", "float32[*,3,16,16]"),
    "padding": ("Padding", "float32[*,3,12,12]"),
    "bn1d": ("bn1d", "float32[*,20]"),
    "slices": ("Slices", "float32[*,12]"),
    "blocks": ("Blocks", "int64[*,6]"),
    "bytewise": ("Bytewise", "int64[*,16]"),
}


def relative(text):
    packages = sysconfig.get_paths()["purelib"]
    return text.replace(packages + "/", "").replace(str(ROOT) + "/", "")


def main():
    for name in sys.argv[1:] or FIXTURES:
        target, shape = FIXTURES[name]
        path = HERE / f"{name}.pt2"
        command = [
            f"fixture_models:{target}",
            "--input",
            shape,
            "--folder",
            str(HERE),
            "-o",
            str(path),
        ]
        export.export_file(export.parse(command), rename=relative)
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
