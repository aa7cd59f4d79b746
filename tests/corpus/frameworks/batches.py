"""Gives batches of the host to a function of PyTorch, or to its CUDA graph."""

import steps
import torch


def to_gpu(batch):
    """Return a batch on the GPU, new tensors for each."""
    return {name: value.to("cuda", non_blocking=value.is_pinned()) for name, value in batch.items()}


def captured(function, example):
    """Return a function of a batch of this shape that replays the given one as a CUDA graph."""
    held = to_gpu(example)
    replay = steps.captured(lambda: function(held))

    def call(batch):
        for name, value in batch.items():
            held[name].copy_(value, non_blocking=value.is_pinned())
        return replay()

    return call


def restored(capture, model, optimizer):
    """Return what a function captures; parameters and moments are then as they were before its warm-up."""
    before = [parameter.detach().clone() for parameter in model.parameters()]
    call = capture()
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), before):
            parameter.copy_(value)
            if parameter.grad is not None:
                parameter.grad.zero_()
        for state in optimizer.state.values():
            for value in state.values():
                value.zero_()
    return call
