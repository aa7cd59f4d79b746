"""Takes derivatives by torch.func: per-sample gradients, Jacobians and Hessians under vmap."""

import torch
from torch.func import functional_call, grad, hessian, jacrev, vmap

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).cuda()
parameters = {name: value.detach() for name, value in model.named_parameters()}
inputs = torch.randn(64, 8, device="cuda")


def loss(values, sample):
    """Return a sample's loss."""
    return functional_call(model, values, sample).square().sum()


gradients = vmap(grad(loss), in_dims=(None, 0))(parameters, inputs)
jacobian = vmap(jacrev(lambda sample: functional_call(model, parameters, sample)))(inputs)
curvature = vmap(hessian(lambda sample: functional_call(model, parameters, sample).sum()))(inputs)
print({name: tuple(value.shape) for name, value in gradients.items()})
print("jacobian", tuple(jacobian.shape), "hessian", tuple(curvature.shape),
      f"{curvature.abs().mean().item():.3f}")
