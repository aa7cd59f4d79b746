"""Augments images on the GPU, each with draws of its own, and trains a small MNASNet with them."""

import steps
import torch
from torch.nn.functional import affine_grid, cross_entropy, grid_sample
from torchvision.models import mnasnet0_5
from torchvision.transforms import v2

BATCH = 32
SIZE = 128
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def uniform(low, high):
    """Return a number for each image."""
    return torch.empty(BATCH, 1, 1, 1, device="cuda").uniform_(low, high)


def augment_batch(images):
    """Crop, flip and jitter all images at once, with parameters that differ between them."""
    side = uniform(0.08, 1).sqrt().flatten()
    theta = torch.zeros(BATCH, 2, 3, device="cuda")
    theta[:, 0, 0] = side * (torch.randint(2, (BATCH,), device="cuda") * 2 - 1)
    theta[:, 1, 1] = side
    theta[:, :, 2] = (1 - side).unsqueeze(1) * (torch.rand(BATCH, 2, device="cuda") * 2 - 1)
    grid = affine_grid(theta, [BATCH, 3, SIZE, SIZE], align_corners=False)
    images = grid_sample(images.float() / 255, grid, align_corners=False)
    images = (images * uniform(0.6, 1.4)).clamp_(0, 1)
    images = torch.lerp(images.mean((1, 2, 3), keepdim=True), images, uniform(0.6, 1.4)).clamp_(0, 1)
    images = torch.lerp(images.mean(1, keepdim=True), images, uniform(0.6, 1.4)).clamp_(0, 1)
    return v2.functional.normalize(images, MEAN, DEVIATION)


def build(variant):
    """Return a training step: augmentation, forward, backward, SGD; every tenth reads the loss."""
    torch.manual_seed(0)
    augment = v2.Compose([
        v2.RandomResizedCrop(SIZE, antialias=True),
        v2.RandomHorizontalFlip(),
        v2.ColorJitter(0.4, 0.4, 0.4),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(MEAN, DEVIATION),
    ])
    model = mnasnet0_5(weights=None, num_classes=100).cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    photos = torch.randint(256, (8, BATCH, 3, 160, 160), dtype=torch.uint8, device="cuda")
    labels = torch.randint(100, (8, BATCH), device="cuda")
    losses = []

    def step(number):
        batch = photos[number % 8]
        if variant == "batched":
            images = augment_batch(batch)
        else:
            images = torch.stack([augment(image) for image in batch])
        optimizer.zero_grad(set_to_none=True)
        loss = cross_entropy(model(images), labels[number % 8])
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            losses.append(loss.item())
        return loss.detach()

    return step


steps.run(build, "eager", "batched")
