"""Trains a ConvNeXt on small batches in bfloat16 and reads the loss in each step."""

import copy

import steps
import torch
from torch.nn.functional import cross_entropy
from torchvision.models import convnext_tiny

BATCH = 8


def build(variant):
    """Return a training step: a batch to the GPU, forward, backward, AdamW, the loss back."""
    torch.manual_seed(0)
    model = convnext_tiny(weights=None, num_classes=100).cuda().train()
    graph = variant == "graph"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05, capturable=graph)
    batches = [(torch.rand(BATCH, 3, 176, 176), torch.randint(100, (BATCH,))) for _ in range(8)]

    def train(images, labels):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = cross_entropy(model(images), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if not graph:
        return lambda number: train(*(tensor.cuda() for tensor in batches[number % 8])).item()

    images, labels = (tensor.cuda() for tensor in batches[0])
    saved = copy.deepcopy(model.state_dict())
    replay = steps.captured(lambda: train(images, labels))
    model.load_state_dict(saved)
    for state in optimizer.state.values():
        for tensor in state.values():
            tensor.zero_()

    def step(number):
        images.copy_(batches[number % 8][0])
        labels.copy_(batches[number % 8][1])
        return replay().item()

    return step


steps.run(build, "eager", "graph")
