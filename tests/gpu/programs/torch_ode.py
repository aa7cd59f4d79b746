"""Fits the dynamics of a spiral: a network inside of an ODE solver, and its adjoint."""

import torch
from torchdiffeq import odeint_adjoint

torch.manual_seed(0)


class Dynamics(torch.nn.Module):
    """What a point's speed is."""

    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))

    def forward(self, _, place):
        return self.network(place**3)


dynamics = Dynamics().cuda()
optimizer = torch.optim.Adam(dynamics.parameters(), lr=1e-3)
times = torch.linspace(0, 1, 8, device="cuda")
start = torch.randn(64, 2, device="cuda")
wanted = torch.stack([start * torch.exp(-time) for time in times])
for _ in range(4):
    loss = (odeint_adjoint(dynamics, start, times, method="rk4") - wanted).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
