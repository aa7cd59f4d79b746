"""Trains a language model of LSTM cells, which a Python loop runs word by word."""

import steps
import torch
from torch.nn import functional

WORDS, WIDTH, BATCH, LENGTH = 10_000, 512, 32, 35


class Cells(torch.nn.Module):
    """An embedding, two LSTM cells with dropout between, a decoder."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH)
        self.cells = torch.nn.ModuleList(torch.nn.LSTMCell(WIDTH, WIDTH) for _ in range(2))
        self.decoder = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        """Return the logits of the word after each."""
        states, outputs = [None, None], []
        for inputs in self.embedding(words).unbind(1):
            for i, cell in enumerate(self.cells):
                states[i] = cell(inputs, states[i])
                inputs = functional.dropout(states[i][0], 0.2, self.training)
            outputs.append(inputs)
        return self.decoder(torch.stack(outputs, 1))


def build(variant):
    """Return a step on the next 35 words of 32 texts; the loss is read every ten steps."""
    torch.manual_seed(0)
    texts = torch.randint(WORDS, (BATCH, 100 * LENGTH + 1))
    words = torch.zeros(BATCH, LENGTH + 1, dtype=torch.long, device="cuda")
    model = Cells().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def train(words):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        return loss.detach()

    graph = variant == "graph"
    replay = steps.captured(lambda: train(words)) if graph else None
    losses = []

    def step(number):
        start = number % 100 * LENGTH
        part = texts[:, start : start + LENGTH + 1]
        if graph:
            words.copy_(part)
        loss = replay() if graph else train(part.cuda())
        if number % 10 == 0:
            losses.append(loss.item())
        return loss

    return step


steps.run(build, "eager", "graph")
