"""Small generators in torch, including a masked net, a GPT over digits and a diffusion model.

python neural.py GENERATOR FITTING SEED TRAIN OUT
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import cross_entropy

STEPS = {
    "arnet": {"light": 300, "normal": 1000, "heavy": 4000},
    "gpt": {"light": 200, "normal": 600, "heavy": 2000},
    "diffusion": {"light": 1000, "normal": 4000, "heavy": 15000},
}
BATCH, NOISES = 64, 100


class Digits:
    """A column as decimal digits of a number in units of its smallest step, or of a code."""

    def __init__(self, column: pd.Series) -> None:
        held = column.dropna()
        self.levels = np.sort(held.unique())
        self.is_number = column.dtype.kind in "iuf" and len(self.levels) > 50
        self.base, most = 32, len(self.levels)
        if self.is_number:
            self.low, width = float(held.min()), float(held.max() - held.min())
            fits = (d for d in range(5) if np.allclose(held, np.round(held, d), atol=1e-9))
            decimals = min(next(fits, 5), int(np.floor(np.log10(1e5 / width))))
            self.step, self.base = 10.0**-decimals, 10
            most = round(width / self.step) + 1
        self.most, self.n = most, 1
        while self.base**self.n < most:
            self.n += 1

    def read(self, column: pd.Series) -> np.ndarray:
        """Return the digits, shape (n, 1 + digits). The first one indicates missing values."""
        missing = column.isna().to_numpy()
        if self.is_number:
            whole = np.round((column.fillna(self.low).to_numpy(float) - self.low) / self.step)
        else:
            whole = np.maximum(pd.Index(self.levels).get_indexer(column), 0)
        whole = whole.astype(int)
        digits = [whole // self.base**i % self.base for i in reversed(range(self.n))]
        return np.column_stack([missing, *digits]).astype(int)

    def write(self, digits: np.ndarray) -> np.ndarray:
        """Return the values of digits."""
        whole = np.zeros(len(digits), int)
        for i in range(1, self.n + 1):
            whole = whole * self.base + digits[:, i]
        whole = np.minimum(whole, self.most - 1)
        values = self.low + whole * self.step if self.is_number else self.levels[whole]
        return pd.Series(values).where(
            digits[:, 0] == 0, None if values.dtype == object else np.nan
        )


class MaskedNet(nn.Module):
    """A net with masks, so that each position depends only on earlier positions."""

    def __init__(self, sizes: list[int], width: int = 384) -> None:
        super().__init__()
        self.sizes, place = sizes, torch.repeat_interleave(torch.tensor(sizes))
        degree = torch.arange(width) % max(len(sizes) - 1, 1)
        self.layers = nn.ModuleList(
            [nn.Linear(sum(sizes), width), nn.Linear(width, width), nn.Linear(width, sum(sizes))]
        )
        self.masks = [
            degree[:, None] >= place[None],
            degree[:, None] >= degree[None],
            place[:, None] > degree[None],
        ]

    def forward(self, x):
        hots = [nn.functional.one_hot(x[:, j], size) for j, size in enumerate(self.sizes)]
        h = torch.cat(hots, 1).float()
        for i, (layer, mask) in enumerate(zip(self.layers, self.masks, strict=True)):
            h = nn.functional.linear(h, layer.weight * mask, layer.bias)
            h = torch.relu(h) if i < 2 else h
        return h.split(self.sizes, 1)


class Gpt(nn.Module):
    """A small causal transformer over the digits of a row."""

    def __init__(self, sizes: list[int], width: int = 64) -> None:
        super().__init__()
        self.sizes, most = sizes, max(sizes)
        self.token, self.place = nn.Embedding(most + 1, width), nn.Embedding(len(sizes), width)
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, most)

    def forward(self, x):
        first = torch.full_like(x[:, :1], max(self.sizes))
        h = self.token(torch.cat([first, x[:, :-1]], 1)) + self.place.weight
        mask = nn.Transformer.generate_square_subsequent_mask(len(self.sizes))
        logits = self.out(self.blocks(h, mask=mask, is_causal=True))
        return [logits[:, j, :size] for j, size in enumerate(self.sizes)]


def trained(model, data, loss_of, steps, rate):
    """Fit a model on random batches, with a learning rate that decreases to zero."""
    optimiser = torch.optim.AdamW(model.parameters(), rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        optimiser.zero_grad()
        loss_of(model, data[torch.randint(len(data), (BATCH,))]).backward()
        optimiser.step()
        falling.step()
    return model.eval()


def by_digits(name, train, fitting):
    """Return rows that are sampled digit by digit."""
    coders = [Digits(column) for _, column in train.items()]
    digits = [coder.read(train[c]) for c, coder in zip(train, coders, strict=True)]
    x = torch.tensor(np.hstack(digits))
    sizes = [int(most) + 1 for most in x.max(0).values]

    def loss_of(model, batch):
        return sum(cross_entropy(part, batch[:, j]) for j, part in enumerate(model(batch)))

    model = (MaskedNet if name == "arnet" else Gpt)(sizes)
    trained(model, x, loss_of, STEPS[name][fitting] * max(1, len(x) // 1000), 2e-3)
    made = torch.zeros_like(x)
    with torch.no_grad():
        for j in range(len(sizes)):
            for rows in torch.arange(len(made)).split(1000):
                chances = torch.softmax(model(made[rows])[j], 1)
                made[rows, j] = torch.multinomial(chances, 1)[:, 0]
    parts = np.split(made.numpy(), np.cumsum([part.shape[1] for part in digits])[:-1], axis=1)
    values = zip(train, coders, parts, strict=True)
    return pd.DataFrame({c: coder.write(part) for c, coder, part in values})


class Denoiser(nn.Module):
    """A net that predicts the noise in a row from the row and the time."""

    def __init__(self, d: int, width: int = 256) -> None:
        super().__init__()
        self.time = nn.Embedding(NOISES, 32)
        layers = [nn.Linear(d + 32, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()]
        self.net = nn.Sequential(*layers, nn.Linear(width, width), nn.SiLU(), nn.Linear(width, d))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


def numbers_of(column):
    """Return a column as normal scores, or one-hot for few values, and the inverse function."""
    has = column.notna().to_numpy()
    levels = np.sort(column.dropna().unique())
    empty = None if levels.dtype == object else np.nan
    if len(levels) <= (15 if column.dtype.kind in "iuf" else 30):
        code = np.where(has, pd.Index(levels).get_indexer(column), len(levels))
        values = np.append(levels.astype(object), [empty])
        kept = levels.dtype if has.all() or levels.dtype.kind == "f" else object
        shown = np.eye(len(levels) + 1)[code, : len(levels) + (not has.all())]
        return shown * 2 - 1, lambda z: values[z.argmax(1)].astype(kept)
    words = column.dtype.kind not in "iuf"
    codes = pd.Index(levels).get_indexer(column)
    whole = pd.Series(np.where(has, codes, np.nan) if words else column.astype(float))
    share = ((whole.rank() - 0.5) / has.sum()).fillna(0.5).to_numpy()
    normal = torch.distributions.Normal(0.0, 1.0)
    scores = normal.icdf(torch.tensor(share)).numpy()
    known = np.sort(whole.dropna().to_numpy())

    def back(z):
        at = normal.cdf(torch.tensor(z[:, 0])).numpy() * len(known) - 0.5
        value = np.interp(at, np.arange(len(known)), known)
        value = levels[np.round(value).astype(int)] if words else value
        return pd.Series(value).where(z[:, 1] < 0, empty)

    return np.column_stack([scores, np.where(has, -1.0, 1.0)]), back


def diffusion(_, train, fitting):
    """Return rows of a Gaussian diffusion over scores and one-hot columns."""
    parts, backs = zip(*(numbers_of(column) for _, column in train.items()), strict=True)
    x = torch.tensor(np.hstack(parts), dtype=torch.float32)
    beta = torch.linspace(1e-3, 0.12, NOISES)
    kept = torch.cumprod(1 - beta, 0)

    def loss_of(model, batch):
        t = torch.randint(NOISES, (len(batch),))
        noise = torch.randn_like(batch)
        mixed = kept[t, None].sqrt() * batch + (1 - kept[t, None]).sqrt() * noise
        return ((model(mixed, t) - noise) ** 2).mean()

    steps = STEPS["diffusion"][fitting] * max(1, len(x) // 1000)
    model = trained(Denoiser(x.shape[1]), x, loss_of, steps, 1e-3)
    z = torch.randn_like(x)
    with torch.no_grad():
        for t in reversed(range(NOISES)):
            guess = model(z, torch.full((len(z),), t))
            z = (z - beta[t] / (1 - kept[t]).sqrt() * guess) / (1 - beta[t]).sqrt()
            z = z + beta[t].sqrt() * torch.randn_like(z) if t else z
    cuts = np.cumsum([part.shape[1] for part in parts])[:-1]
    made = zip(train, backs, np.split(z.numpy().astype(float), cuts, axis=1), strict=True)
    return pd.DataFrame({name: back(part) for name, back, part in made})


if __name__ == "__main__":
    name, fitting, seed, source, target = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(int(seed))
    run = diffusion if name == "diffusion" else by_digits
    run(name, pd.read_parquet(source), fitting).to_parquet(target, index=False)
