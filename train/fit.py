"""Teach the encoder to put a request next to the tool that answers it. Needs torch.

    python -m train.fit --bench DIR --pairs pairs.jsonl --base base.safetensors \
        --tokenizer tokenizer.json --out fitted.safetensors

A batch holds requests of one catalogue. Each is scored against the tools of the whole batch, mined
near misses and random tools of the same catalogue; tools that are also right are masked, and with `--guide`
those that a model trained before finds nearer than the right one.
"""

import argparse
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from train.bench import read_bench
from train.embed import Words, encode, vectors_of
from train.kinds import kind_of
from train.model import MiniLM, load, pick_device, save
from train.pairs import Pair, read_pairs
from train.rounding import rounding
from train.shelf import Columns, Guide, Shelf, also_right, batches, compare, lay_out, shelve

LONGEST = 128


@dataclass(frozen=True, slots=True)
class Recipe:
    epochs: float = 0.9
    batch: int = 256
    rate: float = 3e-5
    # A low one teaches from the hardest mistakes, a high one from all of them.
    temperatures: tuple[float, ...] = (0.05,)
    near_misses: int = 2
    strangers: int = 256
    # From which share of the steps on the model is rounded to 8 bits as it learns.
    rounded_from: float = 0.6
    seed: int = 1


def fit(model: MiniLM, words: Words, shelves: Sequence[Shelf], recipe: Recipe) -> list[float]:
    """Train in place and return the loss of every step."""
    random = Random(recipe.seed)
    torch.manual_seed(recipe.seed)
    steps = max(1, round(recipe.epochs * sum(len(shelf.pairs) for shelf in shelves) / recipe.batch))
    model.train()
    # Words that the pairs lack stay in step with those that they have.
    model.embeddings.requires_grad_(False)
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learning, recipe.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: pace(step, steps))
    losses = []
    with ExitStack() as rounded:
        for step, (shelf, pairs) in enumerate(batches(shelves, recipe.batch, steps, random)):
            if step == round(recipe.rounded_from * steps):
                rounded.enter_context(rounding(model))
            columns = lay_out(shelf, pairs, recipe.near_misses, recipe.strangers, random)
            loss = loss_of(model, words, pairs, columns, also_right(shelf, pairs, columns), recipe)
            advance(loss, learning, optimiser)
            schedule.step()
            losses.append(loss.detach())
    return [float(loss) for loss in losses]


def loss_of(
    model: MiniLM, words: Words, pairs: Sequence[Pair], columns: Columns, spared: object, recipe: Recipe
) -> Tensor:
    """Sum the cross-entropy of the right column over the temperatures."""
    tokens = words([*(pair.request for pair in pairs), *columns.texts])
    vectors = encode(model, tokens, chunk=512)
    asked, known = vectors[: len(pairs)], vectors[len(pairs) :]
    mask = torch.as_tensor(spared, device=vectors.device)
    cosines = (asked @ known.T).masked_fill(mask, -math.inf)
    target = torch.arange(len(pairs), device=vectors.device)
    losses = [functional.cross_entropy(cosines / heat, target) for heat in recipe.temperatures]
    return torch.stack(losses).sum()


def advance(loss: Tensor, learning: Sequence[Tensor], optimiser: torch.optim.Optimizer) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(learning, 1.0)
    optimiser.step()


def pace(step: int, steps: int) -> float:
    """Rise over the first tenth, then fall in a straight line to nothing."""
    rise = max(1, steps // 10)
    return min((step + 1) / rise, (steps - step) / max(1, steps - rise))


def fill_shelves(
    pairs: Sequence[Pair], bench: Path, model: MiniLM, words: Words, seed: int, guide: MiniLM | None = None
) -> list[Shelf]:
    """Make a shelf of each catalogue, with near misses found by the model as it is before training."""
    shelves = []
    for name in sorted({pair.bench for pair in pairs}):
        own = [pair for pair in pairs if pair.bench == name]
        shelf = shelve(read_bench(bench / name), own, Random(seed))
        requests = sorted({pair.request for pair in own})
        asked = vectors_of(model, words, requests)
        whole = [texts[0] for texts in shelf.texts.values()]
        shelf = compare(shelf, requests, asked, vectors_of(model, words, whole))
        shelves.append(shelf if guide is None else guided(shelf, requests, whole, guide, words))
    return shared_out(shelves)


def guided(shelf: Shelf, requests: Sequence[str], whole: Sequence[str], guide: MiniLM, words: Words) -> Shelf:
    asked, known = vectors_of(guide, words, requests), vectors_of(guide, words, whole)
    places = [{name: place for place, name in enumerate(names)} for names in (requests, shelf.texts)]
    return replace(shelf, guide=Guide(places[0], places[1], asked, known))


def shared_out(shelves: Sequence[Shelf]) -> list[Shelf]:
    """Give each kind of set its share of the steps, and each set of a kind by the root of its pairs."""
    kinds = [kind_of(shelf.pairs[0].bench) for shelf in shelves]
    roots = [len(shelf.pairs) ** 0.5 for shelf in shelves]
    totals = {
        kind: sum(root for root, own in zip(roots, kinds, strict=True) if own is kind) for kind in kinds
    }
    return [
        replace(shelf, weight=kind.share / totals[kind]) for shelf, kind in zip(shelves, kinds, strict=True)
    ]


def main() -> None:
    usual = Recipe()
    parser = argparse.ArgumentParser(description="Fine-tune the encoder on pairs.")
    for name in ("bench", "pairs", "base", "tokenizer", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--epochs", type=float, default=usual.epochs)
    parser.add_argument("--batch", type=int, default=usual.batch)
    parser.add_argument("--rate", type=float, default=usual.rate)
    parser.add_argument("--temperatures", default="0.05", help="separated by commas")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--guide", type=Path, help="a model trained before; what it doubts is no mistake")
    given = parser.parse_args()
    heats = tuple(float(heat) for heat in given.temperatures.split(","))
    recipe = Recipe(given.epochs, given.batch, given.rate, temperatures=heats, seed=given.seed)
    words = Words.open(given.tokenizer, LONGEST)
    model = load(given.base).to(pick_device())
    guide = load(given.guide).to(pick_device()) if given.guide else None
    shelves = fill_shelves(read_pairs(given.pairs), given.bench, model, words, recipe.seed, guide)
    losses = fit(model, words, shelves, recipe)
    save(model, given.out)
    last = losses[-50:]
    print(f"{len(losses)} steps, loss {losses[0]:.3f} -> {sum(last) / len(last):.3f}")


if __name__ == "__main__":
    main()
