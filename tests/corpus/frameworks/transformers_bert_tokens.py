"""Trains a small BERT to label each word; copies from pinned memory and reads the mean loss of ten steps."""

import batches
import steps
import torch
from transformers import BertConfig, BertForTokenClassification

TEXTS, WORDS, LABELS = 16, 64, 9


def texts():
    """Return a batch of the host, in pinned memory."""
    return {
        "input_ids": torch.randint(0, 30000, (TEXTS, WORDS)).pin_memory(),
        "labels": torch.randint(0, LABELS, (TEXTS, WORDS)).pin_memory(),
    }


def build(variant):
    """Return a step: a batch to the GPU, a training step, in each tenth the mean loss back."""
    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=384,
        num_hidden_layers=4,
        num_attention_heads=6,
        intermediate_size=1536,
        num_labels=LABELS,
    )
    model = BertForTokenClassification(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, capturable=variant == "graph")
    data = [texts() for _ in range(16)]
    total = torch.zeros((), device="cuda")
    means = [0.0]

    def train(batch):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        return loss.detach()

    def one_step(batch):
        return train(batches.to_gpu(batch))

    if variant == "graph":
        one_step = batches.restored(lambda: batches.captured(train, data[0]), model, optimizer)

    def step(number):
        total.add_(one_step(data[number % 16]))
        if number % 10 == 9:
            means.append(total.item() / 10)
            total.zero_()
        return means[-1]

    return step


steps.run(build, "eager", "graph")
