"""Trains a variational autoencoder with the foreach form of its optimizer."""

import torch
from torch import nn

torch.manual_seed(0)
encode = nn.Linear(256, 32).cuda()
decode = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 256)).cuda()
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3, foreach=True)
images = torch.rand(128, 256, device="cuda")
for _ in range(60):
    mean, log_variance = encode(images).chunk(2, 1)
    code = mean + (log_variance / 2).exp() * torch.randn_like(mean)
    rebuilt = nn.functional.binary_cross_entropy_with_logits(decode(code), images)
    apart = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).mean()
    loss = rebuilt + 0.01 * apart
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
