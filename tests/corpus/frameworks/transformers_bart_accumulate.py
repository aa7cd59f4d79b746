"""Trains a small BART, an update for four batches; reads the loss where it updates."""

import batches
import steps
import torch
from transformers import BartConfig, BartForConditionalGeneration

TEXTS, WORDS, SUMMARY, ACCUMULATE = 4, 96, 32, 4


def texts():
    """Return a batch of the host."""
    return {
        "input_ids": torch.randint(4, 16000, (TEXTS, WORDS)),
        "labels": torch.randint(4, 16000, (TEXTS, SUMMARY)),
    }


def build(variant):
    """Return a step: a batch to the GPU, its gradients added, in each fourth the update and the loss back."""
    torch.manual_seed(0)
    size = {"layers": 4, "ffn_dim": 1024, "attention_heads": 4}
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in size.items()}
    config = BartConfig(vocab_size=16000, d_model=256, max_position_embeddings=128, **sides)
    model = BartForConditionalGeneration(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=variant == "graph")
    data = [texts() for _ in range(16)]
    losses = [0.0]

    def add_gradients(batch):
        loss = model(**batch).loss / ACCUMULATE
        loss.backward()
        return loss.detach()

    def gradients_from_host(batch):
        return add_gradients(batches.to_gpu(batch))

    def update():
        optimizer.step()
        optimizer.zero_grad(set_to_none=variant != "graph")

    if variant == "graph":

        def capture():
            add_gradients(batches.to_gpu(data[0]))
            return batches.captured(add_gradients, data[0]), steps.captured(update)

        gradients_from_host, update = batches.restored(capture, model, optimizer)

    def step(number):
        loss = gradients_from_host(data[number % 16])
        if number % ACCUMULATE == ACCUMULATE - 1:
            update()
            losses.append(loss.item() * ACCUMULATE)
        return losses[-1]

    return step


steps.run(build, "eager", "graph")
