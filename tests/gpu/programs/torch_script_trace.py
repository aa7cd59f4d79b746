"""Runs a traced network and a scripted loop of TorchScript."""

import warnings

import torch

warnings.filterwarnings("ignore")
torch.manual_seed(0)


@torch.jit.script
def settle(values: torch.Tensor, steps: int) -> torch.Tensor:
    """Iterate a map until it settles."""
    for _ in range(steps):
        values = torch.cos(values) * 0.9 + 0.1 * values
    return values


network = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).cuda().eval()
traced = torch.jit.freeze(torch.jit.trace(network, torch.randn(4, 64, device="cuda")))
inputs = torch.randn(256, 64, device="cuda")
with torch.no_grad():
    for _ in range(10):
        made = traced(inputs)
    same = torch.allclose(made, network(inputs), atol=1e-4)
print("same", same, f"settled {settle(inputs, 50).mean().item():.3f}")
