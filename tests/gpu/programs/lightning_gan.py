"""Trains a generator against a discriminator in Lightning, with two optimizers stepped by hand."""

import logging
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Gan(lightning.LightningModule):
    """Points on a circle."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(8, 64), nn.LeakyReLU(), nn.Linear(64, 2))
        self.judge = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(), nn.Linear(64, 1))
        self.steps = 0

    def training_step(self, batch, _):
        make, judge = self.optimizers()
        real = batch[0]
        loss_of = nn.functional.binary_cross_entropy_with_logits
        ones, zeros = torch.ones_like(real[:, :1]), torch.zeros_like(real[:, :1])
        made = self.generator(torch.randn(len(real), 8, device=self.device))
        judge.zero_grad()
        self.manual_backward(loss_of(self.judge(real), ones) + loss_of(self.judge(made.detach()), zeros))
        judge.step()
        make.zero_grad()
        self.manual_backward(loss_of(self.judge(made), ones))
        make.step()
        self.steps += 1

    def configure_optimizers(self):
        return [torch.optim.Adam(part.parameters(), 1e-3) for part in (self.generator, self.judge)]


lightning.seed_everything(0, verbose=False)
angles = torch.rand(512) * 6.28
model = Gan()
trainer = lightning.Trainer(max_epochs=3, accelerator="gpu", devices=1, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, DataLoader(TensorDataset(torch.stack([angles.cos(), angles.sin()], 1)), batch_size=64))
print("steps", model.steps)
