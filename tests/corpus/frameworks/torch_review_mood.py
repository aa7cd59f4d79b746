"""Rates the mood of reviews: Python splits and counts words and pairs, a small network rates them."""

import random
import re

import steps
import torch

REVIEWS, LENGTH, BUCKETS = 64, 200, 100_000
WORD = re.compile(r"[a-z']+|[0-9]+")


def features(text):
    """Return the numbers of the words and pairs of words of a text."""
    words = [word[:-3] if word.endswith("ing") else word.rstrip("s") for word in WORD.findall(text.lower())]
    pairs = [f"{before} {after}" for before, after in zip(words, words[1:])]
    counts = {}
    for word in words + pairs:
        counts[word] = counts.get(word, 0) + 1
    return [sum(map(ord, word)) * 31 % BUCKETS for word, count in counts.items() if count < 20]


def build(_):
    """Return a step: 64 reviews are rated."""
    random.seed(0)
    torch.manual_seed(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(random.choices(letters, k=random.randint(2, 10))) for _ in range(5000)]
    reviews = [" ".join(random.choices(words, k=LENGTH)).capitalize() + "." for _ in range(1000)]
    bag = torch.nn.EmbeddingBag(BUCKETS, 128).cuda()
    head = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5)).cuda()

    @torch.inference_mode()
    def step(number):
        ids, starts = [], []
        for i in range(REVIEWS):
            starts.append(len(ids))
            ids += features(reviews[(number * REVIEWS + i) % len(reviews)])
        moods = head(bag(torch.tensor(ids).cuda(), torch.tensor(starts).cuda())).softmax(1)
        return sum(moods.max(1).values.tolist())

    return step


steps.run(build, "eager")
