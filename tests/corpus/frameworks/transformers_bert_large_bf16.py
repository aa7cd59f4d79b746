"""Trains a BERT as wide as the large one on long texts in bfloat16: large products keep the GPU busy."""

import batches
import steps
import torch
from transformers import BertConfig, BertForSequenceClassification

TEXTS, WORDS = 32, 512


def build(_variant):
    """Return a step: a batch to the GPU, a training step, in each tenth the loss back."""
    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=1024, num_hidden_layers=12, num_attention_heads=16, intermediate_size=4096
    )
    model = BertForSequenceClassification(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    data = [
        {
            "input_ids": torch.randint(0, 30000, (TEXTS, WORDS)).pin_memory(),
            "labels": torch.randint(0, 2, (TEXTS,)).pin_memory(),
        }
        for _ in range(8)
    ]
    losses = [0.0]

    def step(number):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**batches.to_gpu(data[number % 8])).loss
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            losses.append(loss.item())
        return losses[-1]

    return step


steps.run(build, "eager")
