"""Trains a MobileBERT, which has many small parameters, by an optimizer that updates them one by one."""

import batches
import steps
import torch
from transformers import MobileBertConfig, MobileBertForSequenceClassification

TEXTS, WORDS = 16, 64


def build(variant):
    """Return a step: a batch to the GPU, a training step, in each fifth the loss back."""
    torch.manual_seed(0)
    config = MobileBertConfig(num_hidden_layers=4, num_labels=3)
    model = MobileBertForSequenceClassification(config).cuda().train()
    how = {"fused": True} if variant == "fused" else {"foreach": False}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **how)
    data = [
        {
            "input_ids": torch.randint(0, 30000, (TEXTS, WORDS)),
            "labels": torch.randint(0, 3, (TEXTS,)),
        }
        for _ in range(8)
    ]
    losses = [0.0]

    def step(number):
        optimizer.zero_grad()
        loss = model(**batches.to_gpu(data[number % 8])).loss
        loss.backward()
        optimizer.step()
        if number % 5 == 4:
            losses.append(loss.item())
        return losses[-1]

    return step


steps.run(build, "eager", "fused")
