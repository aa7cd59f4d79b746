"""Trains an autoencoder with Lightning's trainer."""

import logging
import warnings

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class AutoEncoder(lightning.LightningModule):
    """Two layers down, two layers up."""

    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        self.decode = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 64))
        self.losses = []

    def training_step(self, batch, _):
        loss = torch.nn.functional.mse_loss(self.decode(self.encode(batch[0])), batch[0])
        self.losses.append(loss.detach())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


lightning.seed_everything(0, verbose=False)
loader = DataLoader(TensorDataset(torch.randn(512, 64)), batch_size=64)
model = AutoEncoder()
trainer = lightning.Trainer(max_epochs=3, accelerator="gpu", devices=1, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, loader)
print("steps", len(model.losses), f"loss {model.losses[-1].item():.2f}")
