"""Trains layers that make_graphed_callables has captured, forward and backward."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
head = torch.nn.Linear(128, 10).cuda()
inputs = torch.randn(64, 128, device="cuda")
graphed = torch.cuda.make_graphed_callables(model, (inputs.clone(),))
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=1e-2)
labels = torch.arange(64, device="cuda") % 10
for _ in range(40):
    loss = torch.nn.functional.cross_entropy(head(graphed(inputs)), labels)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
