"""Scores augmented images by a MobileNetV3; a DataLoader augments them on the CPU."""

import itertools

import steps
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models import mobilenet_v3_large
from torchvision.transforms import v2


class Photos(Dataset):
    """Photos of bytes in memory, cropped and jittered each time they are asked for."""

    def __init__(self):
        self.photos = torch.randint(256, (64, 3, 256, 320), dtype=torch.uint8)
        self.augment = v2.Compose([
            v2.RandomResizedCrop(224, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(0.3, 0.3, 0.3),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ])

    def __len__(self):
        return 65536

    def __getitem__(self, index):
        return self.augment(self.photos[index % 64]), index % 1000


def build(variant):
    """Return a step: the next batch of the loader through the model; every tenth reads how many are right."""
    torch.manual_seed(0)
    options = {}
    if variant == "workers":
        options = {"num_workers": 8, "pin_memory": True, "persistent_workers": True, "prefetch_factor": 4}
    loader = DataLoader(Photos(), batch_size=32, shuffle=True, **options)
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    model = mobilenet_v3_large(weights=None).cuda().eval()
    right = torch.zeros((), device="cuda")
    confidence = []

    @torch.inference_mode()
    def step(number):
        images, labels = next(batches)
        images = images.cuda(non_blocking=variant == "workers")
        labels = labels.cuda(non_blocking=variant == "workers")
        probability, label = model(images).softmax(1).max(1)
        right.add_((label == labels).sum())
        if number % 10 == 9:
            confidence.append(right.item())
        return probability.mean()

    return step


steps.run(build, "eager", "workers")
