"""Shares a tensor with a spawned process, which works on it on the same GPU."""

import torch
import torch.multiprocessing as multiprocessing


def double(shared, done):
    """Double what is shared, in place."""
    shared.mul_(2)
    torch.cuda.synchronize()
    done.set()


def main():
    """Start the other process and read what it left."""
    context = multiprocessing.get_context("spawn")
    shared = torch.arange(1000, device="cuda", dtype=torch.float32)
    done = context.Event()
    other = context.Process(target=double, args=(shared, done))
    other.start()
    done.wait(40)
    other.join()
    print("exit", other.exitcode, f"sum {shared.sum().item():.0f}")


if __name__ == "__main__":
    main()
