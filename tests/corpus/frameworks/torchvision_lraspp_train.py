"""Trains an LR-ASPP segmentation on batches of four crops and logs the loss in every tenth step."""

import copy

import steps
import torch
from torch.nn.functional import cross_entropy
from torchvision.models.segmentation import lraspp_mobilenet_v3_large

BATCH = 4
SIZE = 256


def build(variant):
    """Return a training step: crops and masks to the GPU, forward, backward, SGD."""
    torch.manual_seed(0)
    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=21).cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    batches = [
        (torch.rand(BATCH, 3, SIZE, SIZE).pin_memory(), torch.randint(21, (BATCH, SIZE, SIZE)).pin_memory())
        for _ in range(8)
    ]
    log = []

    def train(images, masks):
        loss = cross_entropy(model(images)["out"], masks, ignore_index=255)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if variant == "graph":
        static = [tensor.cuda() for tensor in batches[0]]
        saved = copy.deepcopy(model.state_dict())
        replay = steps.captured(lambda: train(*static))
        model.load_state_dict(saved)
        for state in optimizer.state.values():
            state["momentum_buffer"].zero_()

    def step(number):
        if variant == "graph":
            for place, tensor in zip(static, batches[number % 8]):
                place.copy_(tensor, non_blocking=True)
            loss = replay()
        else:
            loss = train(*(tensor.cuda(non_blocking=True) for tensor in batches[number % 8]))
        if number % 10 == 9:
            log.append(loss.item())
        return loss

    return step


steps.run(build, "eager", "graph")
