"""Pretrains a small masked autoencoder of images in bfloat16, with dropout and a new mask in each step."""

import batches
import steps
import torch
from transformers import ViTMAEConfig, ViTMAEForPreTraining

IMAGES = 16


def build(variant):
    """Return a step: images to the GPU, a training step, the loss back."""
    torch.manual_seed(0)
    config = ViTMAEConfig(
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=6,
        intermediate_size=1536,
        decoder_hidden_size=192,
        decoder_num_hidden_layers=2,
        decoder_num_attention_heads=6,
        decoder_intermediate_size=768,
        hidden_dropout_prob=0.1,
    )
    model = ViTMAEForPreTraining(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-4, capturable=variant == "graph")
    data = [{"pixel_values": torch.rand(IMAGES, 3, 224, 224).pin_memory()} for _ in range(8)]

    def train(batch):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        return loss.detach()

    if variant == "graph":
        replay = batches.restored(lambda: batches.captured(train, data[0]), model, optimizer)
        return lambda number: replay(data[number % 8]).item()
    return lambda number: train(batches.to_gpu(data[number % 8])).item()


steps.run(build, "eager", "graph")
