"""Trains a ShuffleNet with gradients of four micro-batches to an update, and evaluates it now and then."""

import copy

import steps
import torch
from torch.nn.functional import cross_entropy
from torchvision.models import shufflenet_v2_x1_0

BATCH = 16


def build(variant):
    """Return a step: one micro-batch; every fourth updates and reads the loss, every 20th evaluates."""
    torch.manual_seed(0)
    model = shufflenet_v2_x1_0(weights=None, num_classes=200).cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    batches = [
        (torch.rand(BATCH, 3, 192, 192).pin_memory(), torch.randint(200, (BATCH,)).pin_memory())
        for _ in range(8)
    ]
    losses = torch.zeros((), device="cuda")
    log = []

    def micro(images, labels):
        loss = cross_entropy(model(images), labels) / 4
        loss.backward()
        losses.add_(loss.detach())

    if variant == "graph":
        static = [tensor.cuda() for tensor in batches[0]]
        saved = copy.deepcopy(model.state_dict())
        replay = steps.captured(lambda: micro(*static))
        model.load_state_dict(saved)
        optimizer.zero_grad(set_to_none=False)
        losses.zero_()

    @torch.no_grad()
    def evaluate():
        model.eval()
        right = sum((model(images.cuda()).argmax(1) == labels.cuda()).sum() for images, labels in batches[:2])
        model.train()
        return right.item()

    def step(number):
        if variant == "graph":
            for place, tensor in zip(static, batches[number % 8]):
                place.copy_(tensor, non_blocking=True)
            replay()
        else:
            micro(*(tensor.cuda(non_blocking=True) for tensor in batches[number % 8]))
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad(set_to_none=variant != "graph")
            log.append(losses.item())
            losses.zero_()
        if number % 20 == 19:
            log.append(evaluate())
        return log[-1] if log else 0.0

    return step


steps.run(build, "eager", "graph")
