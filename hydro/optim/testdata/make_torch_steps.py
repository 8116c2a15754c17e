"""Writes torch_steps.safetensors: gradients and the weights after each of 50 steps of torch's own optimizers.

Run: python make_torch_steps.py     (torch 2.11.0, safetensors; the cases here and in optimizer_test.cpp agree)
Names: start.T, gradient.T [steps, shape...], CASE.T [steps, shape...] for tensors T in a, b, c.
"""
import pathlib

import torch
from safetensors.torch import save_file

STEPS = 50
SHAPES = {"a": (4, 3), "b": (3,), "c": (2, 2, 2, 3)}
# lr, decay and eps factors of each tensor in the cases named "width"
FACTORS = {"a": (0.5, 2.0, 4.0), "b": (0.25, 4.0, 2.0), "c": (1.0, 1.0, 1.0)}
SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
CASES = {
    "sgd": (SGD, dict(lr=0.1)),
    "sgd_decay": (SGD, dict(lr=0.1, weight_decay=0.05)),
    "sgd_momentum": (SGD, dict(lr=0.05, momentum=0.9)),
    "sgd_dampened": (SGD, dict(lr=0.05, momentum=0.8, dampening=0.3, weight_decay=0.01)),
    "sgd_nesterov": (SGD, dict(lr=0.02, momentum=0.95, nesterov=True, weight_decay=0.01)),
    "sgd_still": (SGD, dict(lr=0.0, momentum=0.9)),
    "sgd_width": (SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.02)),
    "adam": (ADAM, dict(lr=0.01)),
    "adam_l2": (ADAM, dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    "adam_amsgrad": (ADAM, dict(lr=0.01, betas=(0.5, 0.9), amsgrad=True)),
    "adam_width": (ADAM, dict(lr=0.01, eps=1e-3)),
    "adamw": (ADAMW, dict(lr=0.01, weight_decay=0.1)),
    "adamw_amsgrad": (ADAMW, dict(lr=0.03, betas=(0.7, 0.99), weight_decay=0.3, amsgrad=True)),
    "adamw_still": (ADAMW, dict(lr=0.0, weight_decay=0.1)),
    "adamw_width": (ADAMW, dict(lr=0.01, weight_decay=0.2, eps=1e-3)),
}


def groups(weights, case, kind, settings):
    if not case.endswith("_width"):
        return list(weights.values())
    made = []
    for name, weight in weights.items():
        lr, decay, eps = FACTORS[name]
        group = dict(params=[weight], lr=settings["lr"] * lr, weight_decay=settings.get("weight_decay", 0) * decay)
        if kind is not SGD:
            group["eps"] = settings["eps"] * eps
        made.append(group)
    return made


def main():
    generator = torch.Generator().manual_seed(7)
    start = {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}
    # A falling scale, so that amsgrad's running maximum differs from the running mean.
    fall = torch.linspace(1.5, 0.1, STEPS)
    gradients = {
        name: torch.stack([torch.randn(shape, generator=generator) * fall[t] for t in range(STEPS)])
        for name, shape in SHAPES.items()
    }
    written = {f"start.{n}": w for n, w in start.items()} | {f"gradient.{n}": g for n, g in gradients.items()}
    for case, (kind, settings) in CASES.items():
        weights = {n: torch.nn.Parameter(w.clone()) for n, w in start.items()}
        optimizer = kind(groups(weights, case, kind, settings), **settings)
        history = {n: [] for n in SHAPES}
        for t in range(STEPS):
            for name, weight in weights.items():
                weight.grad = gradients[name][t].clone()
            optimizer.step()
            for name, weight in weights.items():
                history[name].append(weight.detach().clone())
        written |= {f"{case}.{n}": torch.stack(h) for n, h in history.items()}
    save_file(written, pathlib.Path(__file__).with_name("torch_steps.safetensors"))


main()
