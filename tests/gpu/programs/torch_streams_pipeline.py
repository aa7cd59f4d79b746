"""Copies batches in, works on them and copies results out on three streams, with events between."""

import torch

torch.manual_seed(0)
into, work, out = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
batches = [torch.randn(256, 512).pin_memory() for _ in range(16)]
results = [torch.empty(256, 256).pin_memory() for _ in range(16)]
weights = torch.randn(512, 256, device="cuda")
torch.cuda.synchronize()
for batch, result in zip(batches, results):
    copied, done = torch.cuda.Event(), torch.cuda.Event()
    with torch.cuda.stream(into):
        here = batch.to("cuda", non_blocking=True)
        copied.record()
    with torch.cuda.stream(work):
        work.wait_event(copied)
        made = torch.relu(here @ weights)
        here.record_stream(work)
        done.record()
    with torch.cuda.stream(out):
        out.wait_event(done)
        result.copy_(made, non_blocking=True)
        made.record_stream(out)
torch.cuda.synchronize()
print(f"sum {sum(result.double().sum().item() for result in results):.0f}")
