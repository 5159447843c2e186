"""Teach a reader to say which tool does what a request asks, from both read together. Needs torch.

    python -m train.reader_fit --lists lists.npz --encoder model.onnx --out reader.safetensors \\
        [--layers 0,2,5] [--without metatool,bfcl] [--probes probes.npz --scores scores.npz]

The reader begins as the encoder, whose words stay as they are, and has one number at its end. Each request is
compared with 16 tools of its set, one of them right. First it learns to order them as the encoder does, then
which is right; in the last steps weights and activations are rounded to 8 bits as they will be. Probes are
lists like those it learns from, with the tools to score as near ones.
"""

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import onnx
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from train.graph import weights_in
from train.model import build, pick_device
from train.rounding import rounding

START, END = 101, 102
"""The tokens around and between texts."""
REQUEST, TOOL = 56, 72
"""How many tokens of each are read."""
WORTH = 20.0
"""What a cosine of the encoder means as log-odds."""
Row = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Recipe:
    rounds: float = 3.0
    batch: int = 64
    candidates: int = 16
    rate: float = 6e-5
    rounded_from: float = 0.7
    variants: int = 4
    seed: int = 1
    imitate: float = 0.25
    """For which share of the time the encoder's order alone is learnt."""
    imitate_after: float = 0.3
    """How much it counts afterwards."""
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class Lists:
    words: npt.NDArray[np.uint16]
    ends: Row
    sets: Sequence[str]
    of: npt.NDArray[np.int16]
    requests: Row
    right: Sequence[Row]
    near: Sequence[Row]

    @classmethod
    def read(cls, path: Path) -> "Lists":
        with np.load(path) as held:
            right = np.split(held["right"], held["right_ends"][:-1])
            near = np.split(held["near"], held["near_ends"][:-1])
            return cls(
                held["words"], held["ends"], held["sets"].tolist(), held["of"], held["requests"], right, near
            )

    def tokens(self, text: int, most: int) -> list[int]:
        begin = self.ends[text - 1] if text else 0
        return self.words[begin : min(self.ends[text], begin + most)].tolist()

    def pair(self, request: int, tool: int) -> list[int]:
        return [START, *self.tokens(request, REQUEST), END, *self.tokens(tool, TOOL), END]


class Reader(nn.Module):
    """Log-odds that the tool does what the request asks, for padded tokens of both."""

    def __init__(self, weights: Mapping[str, Tensor], layers: Sequence[int] | None) -> None:
        super().__init__()
        self.body = build(weights, layers)
        self.body.embeddings["word_embeddings"].requires_grad_(False)
        width = weights["embeddings.word_embeddings.weight"].shape[1]
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor) -> Tensor:
        seen = self.body.seen(ids, ids != 0)
        return self.outer(self.dropout(torch.tanh(self.inner(seen))))[:, 0].float()


def scored(reader: Reader, pairs: Sequence[Sequence[int]], chunk: int) -> Tensor:
    """Read pairs of like length together."""
    device = next(reader.parameters()).device
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at]))
    found = []
    for start in range(0, len(order), chunk):
        part = [pairs[at] for at in order[start : start + chunk]]
        ids = np.zeros((len(part), -(-max(map(len, part)) // 8) * 8), np.int64)
        for row, pair in enumerate(part):
            ids[row, : len(pair)] = pair
        with torch.autocast(device.type, torch.bfloat16):
            found.append(reader(torch.from_numpy(ids).to(device, non_blocking=True)))
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(found)[back.to(device)]


def meanings(weights: Mapping[str, Tensor], lists: Lists) -> Tensor:
    """The encoder's vector of every text."""
    encoder = build(weights, None).to(pick_device()).eval()
    texts = [[START, *lists.tokens(at, 254), END] for at in range(len(lists.ends))]
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found = []
    with torch.no_grad(), torch.autocast(pick_device().type, torch.bfloat16):
        for start in range(0, len(order), 2048):
            part = [texts[at] for at in order[start : start + 2048]]
            ids = np.zeros((len(part), max(map(len, part))), np.int64)
            for row, text in enumerate(part):
                ids[row, : len(text)] = text
            held = torch.from_numpy(ids).to(pick_device())
            found.append(encoder(held, held != 0))
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(found)[back.to(pick_device())]


def drawn(lists: Lists, rows: Sequence[int], recipe: Recipe, random: Random) -> list[tuple[int, int]]:
    """The pairs of a batch, texts by number, the right one of each request first."""
    pairs = []
    for row in rows:
        right, near = lists.right[row].tolist(), lists.near[row].tolist()
        wanted = recipe.candidates - 1
        # Half of them the nearest there are, the others any of those that are near.
        nearest = near[: recipe.candidates // 2 + 2]
        chosen = random.sample(nearest, min(wanted // 2, len(nearest)))
        others = [tool for tool in near if tool not in chosen]
        chosen += random.sample(others, min(wanted - len(chosen), len(others)))
        while len(chosen) < wanted:
            chosen += lists.near[random.randrange(len(lists.near))].tolist()[:1]
        for tool in (random.choice(right), *chosen):
            pairs.append((int(lists.requests[row]), tool + random.randrange(recipe.variants)))
    return pairs


def imitation(scores: Tensor, cosines: Tensor, candidates: int) -> Tensor:
    """How far what is read is from the encoder's own belief."""
    told = functional.softmax(cosines.view(-1, candidates) * WORTH, dim=1)
    said = functional.log_softmax(scores.view(-1, candidates), dim=1)
    return functional.kl_div(said, told, reduction="batchmean")


def loss_of(scores: Tensor, candidates: int) -> Tensor:
    """Cross-entropy over the candidates, the first of which is right, and "nothing fits", which is 0."""
    table = scores.view(-1, candidates)
    table = torch.cat([table, torch.zeros_like(table[:, :1])], dim=1)
    return functional.cross_entropy(table, torch.zeros(len(table), dtype=torch.long, device=table.device))


def order_of(lists: Lists, without: Sequence[str], recipe: Recipe, random: Random) -> list[int]:
    """The rows in the order in which they are learnt."""
    left_out = {number for number, name in enumerate(lists.sets) if name in without}
    rows = [
        row for row in range(len(lists.of)) if int(lists.of[row]) not in left_out and len(lists.near[row])
    ]
    found: list[int] = []
    while len(found) < recipe.rounds * len(rows):
        found += random.sample(rows, len(rows))
    return found[: round(recipe.rounds * len(rows))]


def fit(reader: Reader, lists: Lists, order: Sequence[int], recipe: Recipe, vectors: Tensor) -> list[float]:
    """Train in place; how many seconds are left is watched, so that the rate falls to nothing in time.

    vectors: what the encoder makes of every text, whose order is learnt first.
    """
    random = Random(recipe.seed)
    learning = [weight for weight in reader.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learning, recipe.rate, weight_decay=0.01)
    steps, began, losses = len(order) // recipe.batch, time.monotonic(), []
    reader.train()
    with ExitStack() as rounded:
        is_rounded = False
        for step in range(steps):
            done = max(step / steps, (time.monotonic() - began) / recipe.seconds)
            if done >= 1:
                break
            if done >= recipe.rounded_from and not is_rounded:
                rounded.enter_context(rounding(reader.body.encoder))
                is_rounded = True
            for group in optimiser.param_groups:
                group["lr"] = recipe.rate * min(step / (0.06 * steps), (1 - done) / 0.94)
            pairs = drawn(lists, order[step * recipe.batch : (step + 1) * recipe.batch], recipe, random)
            said = scored(reader, [lists.pair(*pair) for pair in pairs], 512)
            of = torch.tensor(pairs, device=said.device)
            alike = imitation(said, (vectors[of[:, 0]] * vectors[of[:, 1]]).sum(1), recipe.candidates)
            learnt = loss_of(said, recipe.candidates) + recipe.imitate_after * alike
            loss = alike if done < recipe.imitate else learnt
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimiser.step()
            if step % 100 == 0:
                losses.append(float(loss.detach()))
                print(f"{step}/{steps} {losses[-1]:.3f} {time.monotonic() - began:.0f} s", flush=True)
    return losses  # What is kept are the unrounded weights.


def read_all(reader: Reader, probes: Lists) -> npt.NDArray[np.float32]:
    """The log-odds of every candidate of every probe, in order; rounded as they will be."""
    reader.eval()
    said = []
    with torch.no_grad(), rounding(reader.body.encoder):
        pairs = [
            probes.pair(int(request), int(tool))
            for request, near in zip(probes.requests, probes.near, strict=True)
            for tool in near
        ]
        for start in range(0, len(pairs), 16384):
            said.append(scored(reader, pairs[start : start + 16384], 1024).cpu().numpy())
    return np.concatenate(said).astype(np.float32)


def kept(reader: Reader) -> dict[str, Tensor]:
    """What was learnt, in half precision; the words are the encoder's."""
    return {
        name.removeprefix("body."): weight.detach().half().cpu().contiguous()
        for name, weight in reader.state_dict().items()
        if "word_embeddings" not in name
    }


def main() -> None:
    usual = Recipe()
    options = argparse.ArgumentParser()
    for name in ("lists", "encoder", "out"):
        options.add_argument(f"--{name}", type=Path, required=True)
    for name in ("layers", "without"):
        options.add_argument(f"--{name}", default="")
    for name in ("rounds", "rate", "imitate", "seconds"):
        options.add_argument(f"--{name}", type=float, default=getattr(usual, name))
    options.add_argument("--seed", type=int, default=usual.seed)
    for name in ("probes", "scores"):
        options.add_argument(f"--{name}", type=Path)
    given = options.parse_args()
    recipe = Recipe(
        given.rounds, rate=given.rate, imitate=given.imitate, seconds=given.seconds, seed=given.seed
    )
    torch.manual_seed(recipe.seed)
    weights = {
        name: torch.from_numpy(np.array(each)) for name, each in weights_in(onnx.load(given.encoder)).items()
    }
    layers = [int(each) for each in given.layers.split(",")] if given.layers else None
    reader, lists = Reader(weights, layers).to(pick_device()), Lists.read(given.lists)
    left_out = [start for start in given.without.split(",") if start]
    without = [name for name in lists.sets if any(name.startswith(start) for start in left_out)]
    order = order_of(lists, without, recipe, Random(recipe.seed))
    losses = fit(reader, lists, order, recipe, meanings(weights, lists))
    print("last losses", np.mean(losses[-5:]).round(4), flush=True)
    save_file(kept(reader), given.out)
    if given.probes:
        np.savez_compressed(
            given.scores, scores=read_all(reader, Lists.read(given.probes)).astype(np.float16)
        )


if __name__ == "__main__":
    main()
