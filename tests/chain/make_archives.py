"""Exports what the chain's tests read: each family at widths 1/1, 1/2, 1/4, 1/8 (networks: 1/1 and 1/4) with weights,
an input and plain PyTorch's outputs; and torchvision's models at full width. Keeps what is already there and newer than its makers.

    make_archives.py FOLDER
"""
import copy
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).resolve().parent)]

import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from families import FAMILIES, TORCHVISION, WHOLE  # noqa: E402
from networks import NETWORKS, TOKENS, WIDE, WORDS  # noqa: E402
from hydro import export  # noqa: E402


def archive(target, kwargs, spec, path):
    code = export.main([target, "--kwargs", json.dumps(kwargs), "--input", spec, "-o", str(path)])
    if code:
        sys.exit(f"export of {target} failed with code {code}")


def image_spec(shape):
    return f"float32[*,{','.join(map(str, shape))}]"


def output_of(model, x):
    """transformers' models return several things, the logits among them."""
    result = model(x)
    return result if isinstance(result, torch.Tensor) else result.logits


def outputs(model, x):
    """Train-mode and eval-mode outputs; each from a fresh copy, so that statistics do not leak."""
    with torch.no_grad():
        return output_of(copy.deepcopy(model).train(), x), output_of(copy.deepcopy(model).eval(), x)


def example(spec):
    """A batch of 6 for an input written as `name=type[*,sizes]`."""
    sizes = [int(size) for size in spec[spec.index("*,") + 2 : -1].split(",")]
    return torch.randint(WORDS, (6, TOKENS)) if "int64" in spec else torch.randn(6, *sizes)


def reference(build, kwargs, spec, path):
    torch.manual_seed(1)
    model = build(**kwargs)
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    x = example(spec)
    tensors = {f"state/{k}": v.clone() for k, v in model.state_dict().items()}
    tensors["x"] = x
    tensors["train32"], tensors["eval32"] = outputs(model, x)
    tensors["train64"], tensors["eval64"] = outputs(model.double(), x.double() if x.is_floating_point() else x)
    save_file(tensors, path)


def check_mup_factors(here):
    """The kept factors are those of the installed `mup`."""
    try:
        import mup_factors
    except ImportError as missing:
        if missing.name != "mup":
            raise
        return
    if mup_factors.text() != (here / "mup_factors.json").read_text():
        sys.exit("tests/chain/mup_factors.json is not what mup_factors.py makes; run it and read the difference")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).resolve().parent
    makers = [*here.glob("*.py"), *(ROOT / "python/hydro").glob("*.py")]
    stamp = folder / "made"
    if stamp.exists() and stamp.stat().st_mtime > max(p.stat().st_mtime for p in makers):
        return
    check_mup_factors(here)
    for name, (build, kwargs, shape) in FAMILIES.items():
        for shrink in (1, 2, 4, 8):
            wanted = {**kwargs, "shrink": shrink}
            archive(f"{here}/families.py:{build.__name__}", wanted, image_spec(shape), folder / f"{name}-{shrink}.pt2")
            if shrink > 1:
                reference(build, wanted, image_spec(shape), folder / f"{name}-{shrink}.safetensors")
    for name, (build, kwargs, spec) in NETWORKS.items():
        for shrink in (1, 4):
            wanted = {**kwargs, "shrink": shrink}
            archive(f"{here}/networks.py:{build.__name__}", wanted, spec, folder / f"{name}-{shrink}.pt2")
        reference(build, {**kwargs, "shrink": 4}, spec, folder / f"{name}-4.safetensors")
    for name, (build, kwargs, spec) in WIDE.items():
        archive(f"{here}/networks.py:{build.__name__}", kwargs, spec, folder / f"{name}.pt2")
    for name, (build, kwargs, shape) in WHOLE.items():
        archive(f"{here}/families.py:{build.__name__}", kwargs, image_spec(shape), folder / f"{name}.pt2")
    for name, kwargs in TORCHVISION.items():
        archive(f"torchvision.models:{name}", kwargs, image_spec([3, 32, 32]), folder / f"tv-{name}.pt2")
    stamp.touch()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
