"""Trains a wide ResNet on batches of 64 images in single precision (convolutions use TF32 by default)."""

import contextlib

import steps
import torch
from torch.nn.functional import cross_entropy
from torchvision.models import wide_resnet50_2

BATCH = 64


def build(variant):
    """Return a training step; every tenth reads the loss."""
    torch.manual_seed(0)
    bfloat16 = variant == "bfloat16"
    layout = torch.channels_last if bfloat16 else torch.contiguous_format
    model = wide_resnet50_2(weights=None).cuda().train().to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    batches = [
        (torch.rand(BATCH, 3, 224, 224).pin_memory(), torch.randint(1000, (BATCH,)).pin_memory())
        for _ in range(4)
    ]
    losses = []

    def step(number):
        images, labels = (tensor.cuda(non_blocking=True) for tensor in batches[number % 4])
        images = images.to(memory_format=layout)
        optimizer.zero_grad(set_to_none=True)
        precision = torch.autocast("cuda", dtype=torch.bfloat16) if bfloat16 else contextlib.nullcontext()
        with precision:
            loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            losses.append(loss.item())
        return loss.detach()

    return step


steps.run(build, "eager", "bfloat16")
