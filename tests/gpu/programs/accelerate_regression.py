"""Trains a regression with Accelerate, which places model, optimizer and batches."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(mixed_precision="bf16")
x = torch.randn(512, 16)
data = TensorDataset(x, x.sum(1, keepdim=True))
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=64))
for epoch in range(3):
    for inputs, wanted in loader:
        loss = torch.nn.functional.mse_loss(model(inputs).float(), wanted)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
print("batches", len(loader), "falls", loss.item() < 16)
