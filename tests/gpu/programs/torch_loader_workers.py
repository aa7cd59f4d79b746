"""Feeds a training from a loader with two forked workers and pinned memory."""

import torch
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """Sines of different frequencies."""

    def __len__(self):
        return 512

    def __getitem__(self, at):
        return torch.sin(torch.arange(128) * (at % 8 + 1) / 20), at % 8


def main():
    """Train for two epochs."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv1d(1, 16, 9), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool1d(1),
                                torch.nn.Flatten(), torch.nn.Linear(16, 8)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(Waves(), batch_size=64, num_workers=2, pin_memory=True)
    batches = 0
    for _ in range(2):
        for waves, labels in loader:
            scores = model(waves[:, None].cuda(non_blocking=True))
            loss = torch.nn.functional.cross_entropy(scores, labels.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batches += 1
    print("batches", batches, f"loss {loss.item():.1f}")


if __name__ == "__main__":
    main()
