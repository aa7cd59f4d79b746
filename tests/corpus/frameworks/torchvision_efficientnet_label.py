"""Labels camera images of bytes, one at a time, by an EfficientNet; reads the label and its probability."""

import steps
import torch
from torchvision.models import efficientnet_b0


def build(variant):
    """Return a step: an image to the GPU, its label and probability back."""
    torch.manual_seed(0)
    model = efficientnet_b0(weights=None).cuda().eval()
    images = [torch.randint(256, (1, 3, 224, 224), dtype=torch.uint8) for _ in range(16)]
    mean = torch.tensor([0.485, 0.456, 0.406], device="cuda").view(3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225], device="cuda").view(3, 1, 1)

    @torch.inference_mode()
    def classify(image):
        normalized = (image.float() / 255 - mean) / deviation
        return model(normalized).softmax(1).max(1)

    if variant == "graph":
        buffer = images[0].cuda()
        replay = steps.captured(lambda: classify(buffer))

    def step(number):
        image = images[number % 16]
        if variant == "graph":
            buffer.copy_(image)
            probability, label = replay()
        else:
            probability, label = classify(image.cuda())
        return label.item() + probability.item()

    return step


steps.run(build, "eager", "graph")
