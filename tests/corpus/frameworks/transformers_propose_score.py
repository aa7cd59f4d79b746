"""Improves a text word by word: a BERT proposes, an ELECTRA scores, the host keeps what is better."""

import steps
import torch
from transformers import BertConfig, BertForMaskedLM, ElectraConfig, ElectraForSequenceClassification

WORDS, MASK, PROPOSALS = 40, 103, 4


def build(variant):
    """Return a step: some proposals, each scored; the score of the text that remains."""
    torch.manual_seed(0)
    proposer = BertForMaskedLM(
        BertConfig(hidden_size=256, num_hidden_layers=3, num_attention_heads=4, intermediate_size=1024)
    )
    scorer = ElectraForSequenceClassification(
        ElectraConfig(hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048)
    )
    proposer, scorer = proposer.cuda().eval(), scorer.cuda().eval()
    text = torch.randint(1000, 30000, (1, WORDS), device="cuda")
    masked = text.clone()
    candidate = text.clone()

    @torch.no_grad()
    def propose():
        return proposer(input_ids=masked).logits.argmax(-1)

    @torch.no_grad()
    def score():
        return scorer(input_ids=candidate).logits.float().log_softmax(-1)[0, 1]

    if variant == "graph":
        propose, score = steps.captured(propose), steps.captured(score)
    best = [score().item()]

    def step(number):
        for place in range(number * PROPOSALS, (number + 1) * PROPOSALS):
            place %= WORDS
            masked.copy_(text)
            masked[0, place] = MASK
            candidate.copy_(text)
            candidate[0, place] = propose()[0, place]
            new = score().item()
            if new > best[0]:
                best[0] = new
                text.copy_(candidate)
        return best[0]

    return step


steps.run(build, "eager", "graph")
