"""Evaluates a small RoBERTa: the host compares each answer of a batch with its label, one by one."""

import steps
import torch
from transformers import RobertaConfig, RobertaForSequenceClassification

TEXTS, WORDS, LABELS = 64, 64, 4


def build(variant):
    """Return a step: a batch to the GPU, the share of right answers so far."""
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=30000,
        hidden_size=384,
        num_hidden_layers=4,
        num_attention_heads=6,
        intermediate_size=1536,
        num_labels=LABELS,
    )
    model = RobertaForSequenceClassification(config).half().cuda().eval()
    texts = [torch.randint(4, 30000, (TEXTS, WORDS)) for _ in range(8)]
    labels = [torch.randint(0, LABELS, (TEXTS,)) for _ in range(8)]
    right = [0, 0]

    @torch.no_grad()
    def step(number):
        answers = model(texts[number % 8].cuda()).logits.argmax(-1)
        wanted = labels[number % 8].cuda()
        if variant == "summed":
            right[0] += (answers == wanted).sum().item()
        else:
            for answer, label in zip(answers, wanted):
                right[0] += answer.item() == label.item()
        right[1] += TEXTS
        return right[0] / right[1]

    return step


steps.run(build, "eager", "summed")
