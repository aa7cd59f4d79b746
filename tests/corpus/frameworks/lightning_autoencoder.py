"""Fits an autoencoder with Lightning; each image is augmented when it is loaded, or its batch on the GPU."""

import logging
import random
import warnings

import lightning
import steps
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

BATCH, BATCHES = 128, 30
MEAN, DEVIATION = torch.tensor([0.49, 0.48, 0.45]), torch.tensor([0.25, 0.24, 0.26])


class Augmented(Dataset):
    """Images that are flipped, made noisy and normalized one by one."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if random.random() < 0.5:
            image = image.flip(-1)
        image = (image + 0.02 * torch.randn_like(image)).clamp(0, 1)
        return ((image - MEAN[:, None, None]) / DEVIATION[:, None, None],)


class Autoencoder(lightning.LightningModule):
    """Halves 32 x 32 images three times and doubles them again."""

    def __init__(self, augment):
        super().__init__()
        widths = [3, 32, 64, 128]
        down = [torch.nn.Conv2d(a, b, 4, 2, 1) for a, b in zip(widths, widths[1:])]
        widths.reverse()
        up = [torch.nn.ConvTranspose2d(a, b, 4, 2, 1) for a, b in zip(widths, widths[1:])]
        self.layers, self.augment = torch.nn.ModuleList(down + up), augment

    def augmented(self, images):
        """Flip, make noisy and normalize a batch where it lies."""
        flipped = torch.rand(len(images), 1, 1, 1, device=images.device) < 0.5
        images = torch.where(flipped, images.flip(-1), images)
        images = (images + 0.02 * torch.randn_like(images)).clamp(0, 1)
        mean, deviation = MEAN.to(images.device), DEVIATION.to(images.device)
        return (images - mean[:, None, None]) / deviation[:, None, None]

    def training_step(self, batch):
        """Return the error of one batch, which is logged."""
        images = found = self.augmented(batch[0]) if self.augment else batch[0]
        for layer in self.layers[:-1]:
            found = layer(found).relu()
        loss = functional.mse_loss(self.layers[-1](found), images)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        """Return Adam."""
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def build(variant):
    """Return a step: an epoch of 30 batches; they come whole where the GPU augments."""
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    images = torch.rand(BATCH * BATCHES, 3, 32, 32)
    if variant == "batched":
        whole = TensorDataset(images.view(BATCHES, BATCH, 3, 32, 32))
        loader = DataLoader(whole, batch_size=None, shuffle=True)
    else:
        loader = DataLoader(Augmented(images), batch_size=BATCH, shuffle=True)
    model = Autoencoder(variant == "batched")

    def step(_):
        trainer = lightning.Trainer(
            accelerator="auto",
            devices=1,
            max_epochs=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, loader)
        return trainer.callback_metrics["train_loss"].item()

    return step


steps.run(build, "eager", "batched")
