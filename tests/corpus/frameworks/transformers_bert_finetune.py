"""Fine-tunes a small BERT to classify short texts; reads the loss of each step."""

import batches
import steps
import torch
from transformers import BertConfig, BertForSequenceClassification

TEXTS, WORDS = 8, 64


def texts():
    """Return a batch of the host: texts of several lengths, padded."""
    lengths = torch.randint(WORDS // 4, WORDS, (TEXTS, 1))
    return {
        "input_ids": torch.randint(1, 30000, (TEXTS, WORDS)),
        "attention_mask": (torch.arange(WORDS) < lengths).long(),
        "labels": torch.randint(0, 4, (TEXTS,)),
    }


def build(variant):
    """Return a step: a batch to the GPU, a training step, the loss back."""
    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, num_labels=4
    )
    model = BertForSequenceClassification(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, capturable=variant == "graph")
    data = [texts() for _ in range(16)]

    def train(batch):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        return loss.detach()

    if variant == "graph":
        replay = batches.restored(lambda: batches.captured(train, data[0]), model, optimizer)
        return lambda number: replay(data[number % 16]).item()
    return lambda number: train(batches.to_gpu(data[number % 16])).item()


steps.run(build, "eager", "graph")
