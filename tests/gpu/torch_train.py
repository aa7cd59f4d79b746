#!/usr/bin/env python3
"""Trains a small network in PyTorch: nine linear layers of 512, batches of 256, SGD.

Prints the time of a step, from the first to the last, as "us_per_step 1234.5", and the last loss.
Without PyTorch or a GPU it says so in one line and ends well.
"""

import argparse
import sys
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=5000)
    steps = parser.parse_args().steps
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    torch.manual_seed(0)
    layers = [torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU()) for _ in range(8)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(256, 512, device="cuda")
    labels = torch.randint(0, 10, (256,), device="cuda")

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        loss = step()
    torch.cuda.synchronize()
    print(f"us_per_step {(time.perf_counter() - start) / steps * 1e6:.2f}")
    print(f"loss {loss.item():.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
