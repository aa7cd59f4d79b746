"""Fits a Gaussian process by the marginal likelihood."""

import warnings

import gpytorch
import torch

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class Process(gpytorch.models.ExactGP):
    """A constant mean and a kernel of radial basis functions."""

    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


x = torch.linspace(0, 1, 100, device="cuda")
y = torch.sin(x * 6.2832) + 0.1 * torch.randn(100, device="cuda")
likelihood = gpytorch.likelihoods.GaussianLikelihood().cuda()
model = Process(x, y, likelihood).cuda().train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(15):
    loss = -marginal(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
