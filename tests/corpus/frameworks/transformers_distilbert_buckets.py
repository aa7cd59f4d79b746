"""Classifies texts by a DistilBERT, in batches of six lengths that come in any order."""

import batches
import steps
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification

TEXTS, LENGTHS = 4, (16, 32, 48, 64, 96, 128)


def texts(words):
    """Return a batch of the host, padded to a length."""
    lengths = torch.randint(words // 2, words, (TEXTS, 1))
    return {
        "input_ids": torch.randint(1, 30000, (TEXTS, words)),
        "attention_mask": (torch.arange(words) < lengths).long(),
    }


def build(variant):
    """Return a step: a batch to the GPU, its labels back."""
    torch.manual_seed(0)
    model = DistilBertForSequenceClassification(DistilBertConfig(num_labels=5)).half().cuda().eval()
    order = torch.randint(0, len(LENGTHS), (60,)).tolist()
    data = [texts(LENGTHS[bucket]) for bucket in order]

    @torch.no_grad()
    def classify(batch):
        return model(**batch).logits.argmax(-1)

    if variant == "graph":
        replays = [batches.captured(classify, texts(words)) for words in LENGTHS]
        return lambda number: replays[order[number % 60]](data[number % 60]).cpu()
    return lambda number: classify(batches.to_gpu(data[number % 60])).cpu()


steps.run(build, "eager", "graph")
