"""Trains a generator and a critic of small convolutions in turn; logs both losses every tenth step."""

import steps
import torch
from torch import nn
from torchvision.ops import Conv2dNormActivation

BATCH = 64
NOISE = 64


def generator():
    """Return a network from noise to images of 32 x 32."""
    blocks = [nn.Linear(NOISE, 128 * 16), nn.Unflatten(1, (128, 4, 4))]
    for inputs, outputs in ((128, 128), (128, 64), (64, 32)):
        blocks += [nn.Upsample(scale_factor=2), Conv2dNormActivation(inputs, outputs, 3)]
    return nn.Sequential(*blocks, nn.Conv2d(32, 3, 3, padding=1), nn.Tanh())


def critic():
    """Return a network from images to one number each."""
    blocks = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 128)):
        blocks.append(Conv2dNormActivation(inputs, outputs, 4, 2, 1, norm_layer=None,
                                           activation_layer=nn.LeakyReLU))
    return nn.Sequential(*blocks, nn.Dropout(0.2), nn.Flatten(), nn.Linear(128 * 16, 1))


def build(variant):
    """Return a step: one update of the critic, one of the generator."""
    torch.manual_seed(0)
    nets = generator().cuda(), critic().cuda()
    optimizers = [
        torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.99), capturable=variant == "graph")
        for net in nets
    ]
    data = torch.rand(4096, 3, 32, 32, device="cuda") * 2 - 1
    log = []

    def train():
        generate, judge = nets
        real = data[torch.randint(len(data), (BATCH,), device="cuda")]
        with torch.no_grad():
            fake = generate(torch.randn(BATCH, NOISE, device="cuda"))
        optimizers[1].zero_grad(set_to_none=True)
        critic_loss = (1 - judge(real)).relu().mean() + (1 + judge(fake)).relu().mean()
        critic_loss.backward()
        optimizers[1].step()
        optimizers[0].zero_grad(set_to_none=True)
        generator_loss = -judge(generate(torch.randn(BATCH, NOISE, device="cuda"))).mean()
        generator_loss.backward()
        optimizers[0].step()
        return critic_loss.detach(), generator_loss.detach()

    update = steps.captured(train) if variant == "graph" else train

    def step(number):
        losses = update()
        if number % 10 == 9:
            log.append([loss.item() for loss in losses])
        return losses[0]

    return step


steps.run(build, "eager", "graph")
