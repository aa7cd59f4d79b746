"""Trains a small CLIP on pairs of images and texts, with clipped gradients and a schedule."""

import batches
import steps
import torch
from transformers import CLIPConfig, CLIPModel, get_linear_schedule_with_warmup

PAIRS, WORDS = 16, 32
VISION = {"hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 6, "num_hidden_layers": 6}
TEXT = {"hidden_size": 256, "intermediate_size": 1024, "num_attention_heads": 4, "num_hidden_layers": 4}


def pairs():
    """Return a batch of the host."""
    return {
        "input_ids": torch.randint(0, 49000, (PAIRS, WORDS)),
        "pixel_values": torch.rand(PAIRS, 3, 112, 112),
    }


def build(variant):
    """Return a step: a batch to the GPU, a training step, the loss back."""
    torch.manual_seed(0)
    config = CLIPConfig(
        text_config={**TEXT, "max_position_embeddings": WORDS},
        vision_config={**VISION, "image_size": 112, "patch_size": 16},
        projection_dim=256,
    )
    model = CLIPModel(config).cuda().train()
    graph = variant == "graph"
    rate = torch.tensor(5e-4, device="cuda") if graph else 5e-4
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.2, capturable=graph)
    schedule = get_linear_schedule_with_warmup(optimizer, 100, 100000)
    data = [pairs() for _ in range(8)]

    def train(batch):
        optimizer.zero_grad()
        loss = model(**batch, return_loss=True).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    def train_from_host(batch):
        return train(batches.to_gpu(batch))

    if graph:
        train_from_host = batches.restored(lambda: batches.captured(train, data[0]), model, optimizer)

    def step(number):
        loss = train_from_host(data[number % 8])
        schedule.step()
        return loss.item()

    return step


steps.run(build, "eager", "graph")
