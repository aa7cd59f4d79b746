"""Captures a DenseNet of random weights in a CUDA graph and replays it."""

import torch
import torchvision

torch.manual_seed(0)
model = torchvision.models.densenet121(weights=None).cuda().eval()
images = torch.randn(4, 3, 64, 64, device="cuda")
side = torch.cuda.Stream()
with torch.no_grad():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            wanted = model(images)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scores = model(images)
    for _ in range(10):
        graph.replay()
torch.cuda.synchronize()
print("shape", tuple(scores.shape), "as captured", torch.allclose(scores, wanted, atol=1e-2))
