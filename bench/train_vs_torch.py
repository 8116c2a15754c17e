"""Samples/s of ResNet-18 training: train_bench against plain PyTorch doing the same, in one run, alternating.

Run: python bench/train_vs_torch.py build/release/train_bench
PyTorch gets what it needs to be fast: channels-last, tcmalloc preloaded, one process a core at width 8.
"""
import os
import re
import subprocess
import sys
import time

CASES = [(8, 1, 1, 60, 128), (8, 1, 2, 60, 128), (64, 2, 1, 10, 128), (64, 2, 1, 20, 64)]
# width, threads, workers, steps, batch
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"


def resnet(torch, width):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, n_in, n_out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(n_out)
            self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(n_out)
            self.relu = nn.ReLU(inplace=True)
            self.down = None
            if stride != 1:
                self.down = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += x if self.down is None else self.down(x)
            return self.relu(y)

    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    channels = width
    for stage in range(4):
        for block in range(2):
            layers.append(Block(channels, width << stage, 2 if stage and not block else 1))
            channels = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def train(width, threads, steps, batch):
    import torch

    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    model = resnet(torch, width).to(memory_format=torch.channels_last)
    images = torch.randn(10000, 3, 28, 28).contiguous(memory_format=torch.channels_last)
    labels = torch.arange(10000) % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.001)
    order = torch.randperm(10000)

    def run(count):
        for i in range(count):
            index = order[i * batch % 9000:][:batch]
            loss = torch.nn.functional.cross_entropy(model(images[index]), labels[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()

    run(3)
    start = time.perf_counter()
    run(steps)
    print(steps * batch / (time.perf_counter() - start))


def torch_rate(width, threads, workers, steps, batch):
    environment = dict(os.environ, LD_PRELOAD=TCMALLOC)
    command = [sys.executable, __file__, "--train", str(width), str(threads), str(steps), str(batch)]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(workers)]
    return sum(float(one.communicate()[0]) for one in running)


def own_rate(binary, width, threads, workers, steps, batch):
    out = subprocess.run([binary, *map(str, (width, threads, workers, steps, 1, 1, batch))], check=True, stdout=subprocess.PIPE)
    return float(re.search(rb"(\d+) samples/s", out.stdout).group(1))


def main():
    if sys.argv[1] == "--train":
        train(*map(int, sys.argv[2:6]))
        return
    print("width threads workers batch   torch   hydro  ratio   (samples/s, best of 3, alternating)")
    for case in CASES:
        pairs = [(torch_rate(*case), own_rate(sys.argv[1], *case)) for _ in range(3)]
        theirs, ours = (max(column) for column in zip(*pairs))
        print(f"{case[0]:5} {case[1]:7} {case[2]:7} {case[4]:5} {theirs:7.0f} {ours:7.0f} {ours / theirs:6.2f}")


main()
