"""Trains a language model of cuDNN's LSTM layers, whose decoder multiplies in FP32 or in TF32."""

import steps
import torch
from torch.nn import functional

WORDS, WIDTH, BATCH, LENGTH = 20_000, 1024, 64, 100


class Layers(torch.nn.Module):
    """An embedding, two LSTM layers, a decoder."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH)
        self.layers = torch.nn.LSTM(WIDTH, WIDTH, 2, batch_first=True, dropout=0.2)
        self.decoder = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, words, state):
        """Return the logits of the word after each, and the state."""
        outputs, state = self.layers(self.embedding(words), state)
        return self.decoder(outputs), state


def build(variant):
    """Return a step on the next 100 words of 64 texts; the state is carried on and the loss read."""
    torch.manual_seed(0)
    if variant == "tf32":
        torch.set_float32_matmul_precision("high")
    texts = torch.randint(WORDS, (BATCH, 20 * LENGTH + 1))
    model, state = Layers().cuda(), None
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def step(number):
        nonlocal state
        start = number % 20 * LENGTH
        words = texts[:, start : start + LENGTH + 1].cuda()
        optimizer.zero_grad()
        logits, state = model(words[:, :-1], state)
        state = tuple(part.detach() for part in state)
        loss = functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        return loss.item()

    return step


steps.run(build, "fp32", "tf32")
