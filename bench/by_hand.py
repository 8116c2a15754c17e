"""The quickstart's work by hand in plain PyTorch: what a careful user would write without Hydro.

The same configurations (read from a study's trials.csv) are trained at width 8 in two one-thread processes,
then one configuration at full width on all cores; channels-last; tcmalloc by LD_PRELOAD (see by_hand.sh's caller).
Prints one JSON line: seconds by phase and the target's accuracy.
"""
import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import time

START = time.time()
DATA = "/usr/share/datasets/fashion-mnist/"


def load(kind, limit):
    import numpy as np
    import torch
    with gzip.open(f"{DATA}{kind}-images-idx3-ubyte.gz") as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)[:limit]
    with gzip.open(f"{DATA}{kind}-labels-idx1-ubyte.gz") as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)[:limit]
    x = (torch.from_numpy(images.copy()).float() / 255 - 0.286) / 0.353
    x = x.expand(-1, 3, -1, -1).contiguous(memory_format=torch.channels_last)
    return x, torch.from_numpy(labels.astype("int64"))


def resnet18(width):
    """torchvision's ResNet-18 with `width` instead of 64 channels in the stem."""
    import torch
    from torchvision.models.resnet import BasicBlock, ResNet

    class Narrow(ResNet):
        def __init__(self):
            super().__init__(BasicBlock, [1, 1, 1, 1], num_classes=10)
            self.inplanes = width
            self.conv1 = torch.nn.Conv2d(3, width, 7, 2, 3, bias=False)
            self.bn1 = torch.nn.BatchNorm2d(width)
            self.layer1 = self._make_layer(BasicBlock, width, 2)
            self.layer2 = self._make_layer(BasicBlock, 2 * width, 2, stride=2)
            self.layer3 = self._make_layer(BasicBlock, 4 * width, 2, stride=2)
            self.layer4 = self._make_layer(BasicBlock, 8 * width, 2, stride=2)
            self.fc = torch.nn.Linear(8 * width, 10)
    return Narrow().to(memory_format=torch.channels_last)


def train(config, width, train_set, val_set, epochs=2, weight_decay=0.001):
    import torch
    model = resnet18(width)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=config["momentum"],
                                weight_decay=weight_decay)
    batch = int(config["batch_size"])
    steps = len(train_set[0]) // batch
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, steps * epochs // 2, config["gamma"])
    accuracy = 0.0
    for _ in range(epochs):
        model.train()
        order = torch.randperm(len(train_set[0]))
        for step in range(steps):
            rows = order[step * batch:(step + 1) * batch]
            loss = torch.nn.functional.cross_entropy(model(train_set[0][rows]), train_set[1][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.inference_mode():
            right = sum((model(x).argmax(1) == y).sum().item()
                        for x, y in zip(val_set[0].split(256), val_set[1].split(256)))
        accuracy = right / len(val_set[0])
    return accuracy, model


def worker(configs, out):
    import torch
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    train_set, val_set = load("train", 10000), load("t10k", None)
    values = [train(c, 8, train_set, val_set)[0] for c in configs]
    with open(out, "w") as f:
        json.dump(values, f)


def read_trials(path):
    with open(path) as f:
        return [{k: float(row[k]) for k in ("lr", "momentum", "batch_size", "gamma")} for row in csv.DictReader(f)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", help="trials.csv of a Hydro study")
    parser.add_argument("--targets", type=int, nargs="+", default=[0], help="trials whose configurations are trained "
                        "at full width, one after the other")
    parser.add_argument("--weights", default="by_hand.safetensors")
    parser.add_argument("--worker", type=int)
    args = parser.parse_args()
    configs = read_trials(args.trials)
    if args.worker is not None:
        worker(configs[args.worker::2], f"{args.weights}.{args.worker}.json")
        return
    running = [subprocess.Popen([sys.executable, __file__, args.trials, "--weights", args.weights, "--worker", str(n)])
               for n in range(2)]
    if any(process.wait() for process in running):
        sys.exit("a by-hand worker failed")
    surrogates = time.time() - START
    import torch
    from safetensors.torch import save_file
    torch.set_num_threads(os.cpu_count())
    torch.set_flush_denormal(True)
    accuracy, model = max((train(configs[trial], 64, load("train", 10000), load("t10k", None))
                           for trial in args.targets), key=lambda trained: trained[0])
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, args.weights)
    total = time.time() - START
    print(json.dumps({"surrogates_s": round(surrogates, 2), "target_s": round(total - surrogates, 2),
                      "makespan_s": round(total, 2), "val_accuracy": accuracy}))


if __name__ == "__main__":
    main()
