"""Trains a BERT as wide as the large one in FP32, with PyTorch's default precision of products."""

import batches
import steps
import torch
from transformers import BertConfig, BertForSequenceClassification

TEXTS, WORDS = 8, 256


def build(variant):
    """Return a step: a batch to the GPU, a training step, in each tenth the loss back."""
    torch.manual_seed(0)
    if variant == "tf32":
        torch.set_float32_matmul_precision("high")
    config = BertConfig(
        hidden_size=1024, num_hidden_layers=12, num_attention_heads=16, intermediate_size=4096
    )
    model = BertForSequenceClassification(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    data = [
        {
            "input_ids": torch.randint(0, 30000, (TEXTS, WORDS)),
            "labels": torch.randint(0, 2, (TEXTS,)),
        }
        for _ in range(8)
    ]
    losses = [0.0]

    def step(number):
        optimizer.zero_grad()
        loss = model(**batches.to_gpu(data[number % 8])).loss
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            losses.append(loss.item())
        return losses[-1]

    return step


steps.run(build, "eager", "tf32")
