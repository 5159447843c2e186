"""Teach all layers of the shipped encoder to read for the guard. Needs torch; minutes on an accelerator.

    python -m train.guard_stretches --out cut
    python -m train.guard_teach --cut cut --out taught

A text is read in stretches, and the one that reads most like an attack is what its label is about. Texts are
drawn so that no author and no corpus outweighs the others. A part of the tokens is hidden while it learns;
every batch is learnt a second time with its words nudged to where they mislead most (adversarial training);
both are for authors nobody saw. First whole authors are left out, a fifth of them at a time, and
`scores.npz` gets what is read of the others; then all are learnt from, and `taught.onnx` is written.
"""

import argparse
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from train.graph import reader, weights_in
from train.model import MiniLM, build, pick_device

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 128
NOBODY = -9
"""A fold that no author is in."""

FOLDS = 5
INNER = 128
MOST_OF_HONEST, MOST_OF_ATTACK = 4, 8
"""How many stretches of a text are read in one step."""
SHARE_OF_ATTACKS = 0.45
GROUPS = {"many": 0.5, "own": 0.35, "set in": 0.15, "quantity": 0.1}
"""How much of what is drawn comes from which texts."""
SOURCES_OF_QUANTITY = ("bench", "packages", "translations")
NOT_LABELLED = ("written", "grammar", "languages", *SOURCES_OF_QUANTITY)

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Recipe:
    rate: float = 1e-4
    drawn: int = 60_000
    batch: int = 96
    words_learn: bool = True
    lost: float = 0.15
    """Share of the tokens that are hidden from it while it learns."""
    adversarial: float = 0.5
    """How far each word is nudged; twice as far and it learns too little in this time."""
    hard: float = 2.0
    shift: float = 0.0
    """By how much honest texts must stay below, in log-odds."""
    doubtful: float = 0.5
    own: bool = True
    set_in: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Texts:
    about: list[dict[str, Any]]
    tokens: npt.NDArray[np.int16]
    lengths: Places
    first: Places
    """Where the stretches of each text begin; one more at the end."""
    kinds: Places
    """Of each stretch whether it stands in the open (0) or is hidden (1)."""

    @classmethod
    def open(cls, folder: Path) -> "Texts":
        with gzip.open(folder / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
            about = [json.loads(line) for line in lines]
        with np.load(folder / "stretches.npz") as kept:
            tokens, ends, owners = kept["tokens"], kept["ends"].astype(np.int64), kept["owners"]
            kinds = kept["kinds"].astype(np.int64)
        lengths = np.diff(ends, prepend=0)
        padded = np.zeros((len(ends), int(lengths.max())), np.int16)
        padded[np.arange(padded.shape[1])[None, :] < lengths[:, None]] = tokens.astype(np.int16)
        first = np.searchsorted(owners, np.arange(len(about) + 1))
        return cls(about, padded, lengths, first, kinds)

    def column(self, name: str) -> npt.NDArray[Any]:
        return np.array([row[name] for row in self.about])


def folds_of(texts: Texts) -> Places:
    """The fold of each text's author, so that each fold has as many attacks and as many honest texts."""
    sizes: dict[str, list[int]] = {}
    for row in texts.about:
        if row["part"] == "train" and row["source"] not in NOT_LABELLED:
            sizes.setdefault(row["by"], [0, 0])[row["attack"]] += 1
    totals = np.zeros((FOLDS, 2))
    scale = np.array(list(sizes.values())).sum(axis=0)
    chosen = {}
    for author, size in sorted(sizes.items(), key=lambda item: (-max(item[1]), item[0])):
        cost = ((totals + size) / scale).max(axis=1) + totals.sum(axis=1) / scale.sum()
        chosen[author] = int(np.argmin(cost))
        totals[chosen[author]] += size
    return np.array([chosen.get(row["by"], -1) for row in texts.about])


def weights_of(texts: Texts, recipe: Recipe, left_out: int, folds: Places) -> Numbers:
    """How often each text is drawn: none of the fold left out, of an author by the root of their number."""
    part, source = texts.column("part"), texts.column("source")
    attack, author = texts.column("attack").astype(bool), texts.column("by")
    taught = (part == "train") & (folds != left_out) | (part == "set in") & (
        folds != left_out
    ) & recipe.set_in
    quantity = np.isin(source, SOURCES_OF_QUANTITY)
    group = np.where(part == "set in", "set in", np.where(source == "more", "many", "own"))
    group = np.where(quantity, "quantity", group)
    if not recipe.own:
        taught &= source == "more"
    chance = np.zeros(len(part))
    for kind, share in ((True, SHARE_OF_ATTACKS), (False, 1 - SHARE_OF_ATTACKS)):
        for name, part_share in GROUPS.items():
            inside = taught & (attack == kind) & (group == name)
            if inside.any():
                _, number, count = np.unique(author[inside], return_inverse=True, return_counts=True)
                weight = 1 / np.sqrt(count)[number]
                weight *= np.where(texts.column("hard")[inside].astype(bool), recipe.hard, 1.0)
                weight *= np.where(texts.column("doubt")[inside].astype(bool), recipe.doubtful, 1.0)
                chance[inside] = share * part_share * weight / weight.sum()
    return chance / chance.sum()


class Net(nn.Module):
    """The encoder and a head on what it makes of a stretch."""

    def __init__(self, encoder: MiniLM) -> None:
        super().__init__()
        self.encoder = encoder
        self.inner = nn.Linear(encoder.embeddings["word_embeddings"].embedding_dim, INNER)
        self.outer = nn.Linear(INNER, 1)

    def embedded(self, ids: Tensor) -> Tensor:
        parts = self.encoder.embeddings
        state = parts["word_embeddings"](ids) + parts["token_type_embeddings"].weight[0]
        state = state + parts["position_embeddings"].weight[: ids.shape[1]]
        return parts["LayerNorm"](state)

    def forward(self, ids: Tensor, nudge: Tensor | None = None, keep: list[Tensor] | None = None) -> Tensor:
        mask = ids != 0
        state = self.embedded(ids)
        if keep is not None:
            state.retain_grad()
            keep.append(state)
        if nudge is not None:
            state = state + nudge
        state = self.encoder.dropout(state)
        for layer in self.encoder.encoder["layer"]:
            state = layer(state, mask[:, None, None, :])
        return self.headed(state, mask)

    def headed(self, state: Tensor, mask: Tensor) -> Tensor:
        shares = mask / mask.sum(1, keepdim=True)
        seen = (state * shares[:, :, None]).sum(1)
        return self.outer(torch.tanh(self.inner(self.encoder.dropout(seen)))).squeeze(-1)


@dataclass(slots=True)
class Desk:
    """The texts on the device, and how a batch of them is read."""

    texts: Texts
    tokens: Tensor
    device: torch.device

    @classmethod
    def of(cls, texts: Texts, device: torch.device) -> "Desk":
        return cls(texts, torch.from_numpy(texts.tokens).to(device), device)

    def ids(self, windows: Places) -> Tensor:
        longest = int(self.texts.lengths[windows].max())
        return self.tokens[torch.from_numpy(windows).to(self.device), :longest].long()


def chosen_windows(
    texts: Texts, rows: Places, attack: npt.NDArray[np.bool_], chance: Any
) -> tuple[Places, Places]:
    """Some stretches of each text, and whose they are."""
    windows, owners = [], []
    for number, row in enumerate(rows):
        own = np.arange(texts.first[row], texts.first[row + 1])
        most = MOST_OF_ATTACK if attack[number] else MOST_OF_HONEST
        own = own if len(own) <= most else chance.choice(own, most, replace=False)
        windows.append(own)
        owners.append(np.full(len(own), number))
    return np.concatenate(windows), np.concatenate(owners)


def loss_of(said: Tensor, owners: Tensor, label: Tensor, shift: float) -> Tensor:
    """The stretch that reads most like an attack decides; of an honest text every stretch is honest."""
    best = torch.full_like(label, -1e4).scatter_reduce(0, owners, said, "amax")
    best = torch.where(label > 0, best, best + shift)
    whole = functional.binary_cross_entropy_with_logits(best, 0.96 * label + 0.02)
    honest = (1 - label)[owners]
    each = functional.binary_cross_entropy_with_logits(said, torch.full_like(said, 0.02), reduction="none")
    return whole + 0.3 * (each * honest).sum() / honest.sum().clamp_min(1)


def optimiser_of(net: Net, recipe: Recipe) -> torch.optim.Optimizer:
    net.encoder.embeddings["word_embeddings"].weight.requires_grad_(recipe.words_learn)
    head = [*net.inner.parameters(), *net.outer.parameters()]
    body = [weight for weight in net.encoder.parameters() if weight.requires_grad]
    groups = [{"params": body, "lr": recipe.rate}, {"params": head, "lr": 1e-3}]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=net.inner.weight.is_cuda)


def pace(step: int, steps: int) -> float:
    warm = max(1, steps // 12)
    return min((step + 1) / warm, max(0.02, (steps - step) / max(1, steps - warm)))


def teach(desk: Desk, recipe: Recipe, weights: Numbers, start: dict[str, Tensor]) -> Net:
    """A net that has learnt from texts drawn by their weights."""
    torch.manual_seed(recipe.seed)
    chance = np.random.default_rng(recipe.seed)
    net = Net(build(start)).to(desk.device).train()
    optimiser = optimiser_of(net, recipe)
    attacks = desk.texts.column("attack").astype(bool)
    steps = recipe.drawn // recipe.batch
    rows = chance.choice(len(weights), steps * recipe.batch, p=weights).reshape(steps, recipe.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: pace(step, steps))
    for step in range(steps):
        loss = _step(net, desk, rows[step], attacks[rows[step]], recipe, chance)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        schedule.step()
        if step % 200 == 0:
            print(f"step {step} of {steps}, loss {float(loss):.3f}", flush=True)
    return net.eval()


def _step(
    net: Net, desk: Desk, rows: Places, attack: npt.NDArray[np.bool_], recipe: Recipe, chance: Any
) -> Tensor:
    windows, owning = chosen_windows(desk.texts, rows, attack, chance)
    ids = desk.ids(windows)
    owners = torch.from_numpy(owning).to(desk.device)
    label = torch.from_numpy(attack.astype(np.float32)).to(desk.device)
    if recipe.lost:
        gone = (torch.rand(ids.shape, device=ids.device) < recipe.lost) & (ids > 103)
        ids = torch.where(gone, 103, ids)
    kept: list[Tensor] = []
    with torch.autocast(desk.device.type, torch.bfloat16):
        said = net(ids, keep=kept if recipe.adversarial else None)
    loss = loss_of(said.float(), owners, label, recipe.shift)
    loss.backward()
    if recipe.adversarial:
        slope = kept[0].grad.float()
        nudge = recipe.adversarial * slope / slope.norm(dim=-1, keepdim=True).clamp_min(1e-9)
        nudge = nudge * (slope.norm(dim=-1, keepdim=True) > 0)
        with torch.autocast(desk.device.type, torch.bfloat16):
            again = net(ids, nudge=nudge.detach())
        loss_of(again.float(), owners, label, recipe.shift).backward()
    return loss.detach()


@torch.no_grad()
def opinion(net: Net, desk: Desk, windows: Places, chunk: int = 1024) -> npt.NDArray[np.float32]:
    order = windows[np.argsort(desk.texts.lengths[windows])]
    out = np.zeros(len(desk.texts.lengths), np.float32)
    for start in range(0, len(order), chunk):
        part = order[start : start + chunk]
        with torch.autocast(desk.device.type, torch.bfloat16):
            out[part] = net(desk.ids(part)).float().cpu().numpy()
    return out[windows]


def best_by_kind(texts: Texts, rows: Places, windows: Places, said: npt.NDArray[np.float32]) -> Numbers:
    """The highest score of each text among what it says and among what it hides."""
    every = np.full((2, len(texts.lengths)), -np.inf)
    every[texts.kinds[windows], windows] = said
    return np.array([every[:, texts.first[row] : texts.first[row + 1]].max(axis=1) for row in rows])


def plain_weights(net: Net) -> dict[str, npt.NDArray[np.float32]]:
    """The weights under the names that `train.graph` knows."""
    held = {name: weight.detach().float().cpu().numpy() for name, weight in net.state_dict().items()}
    inner = ("encoder.embeddings.", "encoder.encoder.")
    return {
        name.removeprefix("encoder.") if name.startswith(inner) else name: weight
        for name, weight in held.items()
    }


def windows_of(texts: Texts, rows: Places) -> Places:
    return np.concatenate([np.arange(texts.first[row], texts.first[row + 1]) for row in rows])


def read_rows(net: Net, desk: Desk, rows: Places) -> Numbers:
    windows = windows_of(desk.texts, rows)
    return best_by_kind(desk.texts, rows, windows, opinion(net, desk, windows))


def encoder_weights() -> dict[str, Tensor]:
    held = weights_in(onnx.load(ROOT / "src" / "prowess" / "discovery" / "model" / "model.onnx"))
    return {name: torch.from_numpy(weight) for name, weight in held.items()}


def left_out(desk: Desk, recipe: Recipe, start: dict[str, Tensor]) -> Numbers:
    """What is read of each labelled text by a net that has seen nothing of its author."""
    texts, folds = desk.texts, folds_of(desk.texts)
    labelled = (texts.column("part") == "train") & ~np.isin(texts.column("source"), NOT_LABELLED)
    scores = np.full((len(texts.about), 2), np.nan)
    for fold in range(FOLDS):
        net = teach(desk, recipe, weights_of(texts, recipe, fold, folds), start)
        rows = np.flatnonzero(labelled & (folds == fold))
        scores[rows] = read_rows(net, desk, rows)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the encoder to read for the guard.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--drawn", type=int, default=Recipe().drawn, help="how many texts are drawn")
    parser.add_argument("--batch", type=int, default=Recipe().batch)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    recipe, start = Recipe(drawn=given.drawn, batch=given.batch), encoder_weights()
    desk = Desk.of(Texts.open(given.cut), pick_device())
    np.savez_compressed(given.out / "scores.npz", taught=left_out(desk, recipe, start).astype(np.float16))
    net = teach(desk, recipe, weights_of(desk.texts, recipe, NOBODY, folds_of(desk.texts)), start)
    graph = reader(plain_weights(net), LONGEST)
    (given.out / "taught.onnx").write_bytes(graph.SerializeToString(deterministic=True))
    print(f"wrote {given.out}; put taught.onnx into src/prowess/guard/model, then run train.guard_limits")


if __name__ == "__main__":
    main()
