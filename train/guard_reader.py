"""Turn the encoder to reading for the guard. Needs torch and onnx; minutes on an accelerator, hours without.

    python -m train.guard_stretches --out cut
    python -m train.guard_reader --stretches cut

What is learnt are two narrow matrices for each weight of the shipped encoder, and a head; they are written to
`src/prowess/guard/model/reader.npz` in 8 bits, with the digest of the encoder they belong to. Several
readers learn from labels; one more learns from labels and from what the others think of many texts that have
none. The shipped one was not taught with every fifth text: `train.guard_limits` sets limits by those.
"""

import argparse
import gzip
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrize

from prowess.guard.networks import ENCODER, SHARPNESS, SHIPPED
from train.embed import Ids, encode
from train.fit import advance, pace
from train.graph import HEAD_WIDTH, round_to_int8, weights_in
from train.model import MiniLM, build, pick_device

RANK = 40
INNER = 64
MOST_OF_HONEST, MOST_OF_ATTACK = 3, 8
"""How many stretches of a text are read in one step."""
SURE = 9.0
"""Log-odds beyond which it does not matter how sure somebody is."""
SOFT = 2.0
"""By so much opinions are softened before they are compared: doubts teach more than certainties."""

Change = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Recipe:
    readers: int = 4
    epochs: float = 4
    batch: int = 48
    passes: float = 8
    """How often the last reader sees the texts without a label."""
    at_once: int = 256
    rate: float = 6e-4
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as stretches of tokens, whether each is an attack, and more stretches without a label."""

    stretches: Sequence[Ids]
    of_text: Sequence[Sequence[int]]
    attack: Sequence[bool]
    more: Sequence[Ids]


class Narrow(nn.Module):
    """A weight, and a product of two narrow matrices added to it."""

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
        self.b = nn.Parameter(torch.zeros(outputs, RANK))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.b @ self.a


class Net(nn.Module):
    """The encoder, turned, and a head on its vector."""

    def __init__(self, encoder: MiniLM) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        for part in dense(encoder):
            parametrize.register_parametrization(part, "weight", Narrow(*part.weight.shape))
        width = encoder.embeddings["word_embeddings"].embedding_dim
        self.inner, self.outer = nn.Linear(width, INNER), nn.Linear(INNER, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        seen = self.encoder(ids, mask)
        return self.outer(torch.tanh(self.inner(SHARPNESS * seen))).squeeze(-1)


def dense(part: nn.Module) -> list[nn.Linear]:
    return [each for each in part.modules() if isinstance(each, nn.Linear)]


def teach(net: Net, texts: Texts, recipe: Recipe, goal: Tensor | None = None) -> None:
    """From labels; with a goal, also from what others think of each stretch, those without a label first."""
    chance = np.random.default_rng(recipe.seed)
    net.train()
    head = [*net.inner.parameters(), *net.outer.parameters()]
    narrow = [weight for weight in net.encoder.parameters() if weight.requires_grad]
    groups = [{"params": narrow, "lr": recipe.rate}, {"params": head, "lr": 1e-3}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    labelled = round(recipe.epochs * len(texts.attack) / recipe.batch)
    steps = max(1, labelled if goal is None else round(recipe.passes * len(goal) / recipe.at_once))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: pace(step, steps))
    chosen = drawn(len(texts.attack), recipe.batch, chance)
    imitated = drawn(len(texts.more) + len(texts.stretches), recipe.at_once, chance)
    for step in range(steps):
        if goal is None:
            loss = by_labels(net, texts, next(chosen), chance)
        else:
            loss = by_others(net, texts, next(imitated), goal)
            # The labels have the last word, at half the weight and in every second step.
            loss = loss + 0.5 * by_labels(net, texts, next(chosen), chance) if step % 2 == 0 else loss
        advance(loss, [*narrow, *head], optimiser)
        schedule.step()


def drawn(count: int, size: int, chance: np.random.Generator) -> Iterator[list[int]]:
    """Numbers below the count, in a new order each time round."""
    waiting: list[int] = []
    while True:
        if len(waiting) < size:
            waiting += chance.permutation(count).tolist()
        taken, waiting = waiting[:size], waiting[size:]
        yield taken


def by_labels(net: Net, texts: Texts, chosen: Sequence[int], chance: np.random.Generator) -> Tensor:
    """The stretch of a text that reads most like an attack is what its label is about."""
    read = [some(texts.of_text[n], texts.attack[n], chance) for n in chosen]
    said = encode(net, [texts.stretches[n] for numbers in read for n in numbers])
    owners = torch.tensor([n for n, numbers in enumerate(read) for _ in numbers], device=said.device)
    label = torch.tensor([float(texts.attack[n]) for n in chosen], device=said.device)
    best = torch.full_like(label, -1e4).scatter_reduce(0, owners, said.float(), "amax")
    loss = functional.binary_cross_entropy_with_logits(best, 0.96 * label + 0.02, reduction="none")
    return (loss * (1 + label)).mean()


def some(numbers: Sequence[int], attack: bool, chance: np.random.Generator) -> Sequence[int]:
    most = MOST_OF_ATTACK if attack else MOST_OF_HONEST
    return numbers if len(numbers) <= most else chance.choice(numbers, most, replace=False).tolist()


def by_others(net: Net, texts: Texts, chosen: Sequence[int], goal: Tensor) -> Tensor:
    every = len(texts.more)
    said = encode(net, [texts.more[n] if n < every else texts.stretches[n - every] for n in chosen]).float()
    wanted = goal[torch.tensor(chosen, device=goal.device)]
    soft = functional.binary_cross_entropy_with_logits(said / SOFT, torch.sigmoid(wanted / SOFT))
    return SOFT**2 * soft + 0.05 * functional.smooth_l1_loss(said, wanted)


@torch.no_grad()
def opinion(net: Net, texts: Texts) -> Tensor:
    net.eval()
    return encode(net, [*texts.more, *texts.stretches], chunk=512).float()


def learn(texts: Texts, recipe: Recipe) -> Net:
    """Several readers, and the one that learns from all of them."""
    opinions = []
    for seed in range(recipe.seed, recipe.seed + recipe.readers):
        one = untaught(seed)
        teach(one, texts, replace(recipe, seed=seed))
        opinions.append(opinion(one, texts))
    last = untaught(recipe.seed)
    teach(last, texts, recipe, torch.stack(opinions).mean(0).clamp(-SURE, SURE))
    return last


def untaught(seed: int) -> Net:
    """The shipped encoder, rounded as it is, with changes that change nothing yet."""
    torch.manual_seed(seed)
    weights = weights_in(onnx.load(ENCODER / "model.onnx"))
    return Net(build({name: torch.from_numpy(weight) for name, weight in weights.items()})).to(pick_device())


def taught(file: Path) -> Net:
    """The reader of a file, to be taught further."""
    net = untaught(seed=0)
    with np.load(file, allow_pickle=False) as kept:
        for number, (_, parts) in enumerate(_matrices(net)):
            left, scale, right = (kept[f"{name}_{number}"] for name in ("left", "scale", "right"))
            for at, (narrow, factor) in enumerate(parts):
                ranks, outputs = (slice(at * size, (at + 1) * size) for size in narrow.b.T.shape)
                inward = left[:, ranks].T.astype(np.float32)
                # Both go on at the sizes they began with; the 8 bits do not tell which of them was how large.
                size = np.sqrt(np.square(inward).sum(axis=1, keepdims=True)).clip(min=1)
                outward = right[ranks, outputs].T * scale[ranks] * size[:, 0] / factor
                narrow.a.data, narrow.b.data = (_like(narrow.a, each) for each in (inward / size, outward))
        net.inner.weight.data = _like(net.inner.weight, kept["head_0"])
        net.inner.bias.data = _like(net.inner.bias, kept["head_1"])
        net.outer.weight.data = _like(net.outer.weight, kept["head_2"][None])
        net.outer.bias.data.fill_(float(kept["head_3"]))
    return net


def _like(weight: Tensor, values: npt.NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32)).to(weight.device)


def changes(net: Net, encoder: Path) -> Change:
    """What was learnt, as `prowess.guard.networks.turned` works it into the encoder's file."""
    content = encoder.read_bytes()
    places = {each.name: content.find(each.raw_data) for each in onnx.load(encoder).graph.initializer}
    found: Change = {}
    for number, (name, parts) in enumerate(_matrices(net.cpu())):
        left = torch.cat([narrow.a.T for narrow, _ in parts], 1)
        right = torch.block_diag(*(narrow.b.T * factor for narrow, factor in parts))
        found[f"at_{number}"] = np.array([places[f"{name}.kernel"], places[f"{name}.scale"]])
        inward = round_to_int8(left.detach().numpy(), along=0)
        outward = round_to_int8(right.detach().numpy(), along=1)
        found[f"left_{number}"], found[f"right_{number}"] = inward.values, outward.values
        found[f"scale_{number}"] = inward.scale[0] * outward.scale[:, 0]
    head = (net.inner.weight, net.inner.bias, net.outer.weight[0])
    found |= {f"head_{n}": weight.detach().numpy().astype(np.float16) for n, weight in enumerate(head)}
    found["head_3"] = np.array(float(net.outer.bias.detach()))
    found["encoder"] = np.array(hashlib.sha256(content).hexdigest())
    return found


def _matrices(net: Net) -> Iterator[tuple[str, list[tuple[Narrow, float]]]]:
    """For each matrix of the graph its name and what was learnt of it, in parts that stand side by side."""
    for number, layer in enumerate(net.encoder.encoder["layer"]):
        start = f"encoder.layer.{number}"
        inside = [_narrow(layer.attention["self"][name]) for name in ("query", "key", "value")]
        # The graph has the factor of attention in the first.
        yield f"{start}.attention.joined", list(zip(inside, (HEAD_WIDTH**-0.5, 1.0, 1.0), strict=True))
        yield f"{start}.attention.output", [(_narrow(layer.attention["output"]["dense"]), 1.0)]
        yield f"{start}.intermediate.dense", [(_narrow(layer.intermediate["dense"]), 1.0)]
        yield f"{start}.output.dense", [(_narrow(layer.output["dense"]), 1.0)]


def _narrow(part: nn.Module) -> Narrow:
    return part.parametrizations.weight[0]


def read_texts(folder: Path) -> Texts:
    """Our own texts as they are, and the others, whatever they are, without a label."""
    with gzip.open(folder / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        about = [json.loads(line) for line in lines]
    with np.load(folder / "stretches.npz") as kept:
        stretches = [part.tolist() for part in np.split(kept["tokens"], kept["ends"][:-1])]
        firsts = np.flatnonzero(np.diff(kept["owners"])) + 1
    of_text = [part.tolist() for part in np.split(np.arange(len(stretches)), firsts)]
    own = [n for n, row in enumerate(about) if row["part"] == "train" and row["source"] != "more"]
    others = [n for n, row in enumerate(about) if row["part"] in ("set in", "unlabelled")]
    more = [stretches[number] for n in others for number in of_text[n]]
    return Texts(stretches, [of_text[n] for n in own], [about[n]["attack"] for n in own], more)


def main() -> None:
    parser = argparse.ArgumentParser(description="Turn the encoder to reading for the guard.")
    parser.add_argument("--stretches", type=Path, required=True)
    parser.add_argument("--readers", type=int, default=Recipe().readers)
    parser.add_argument("--epochs", type=float, default=Recipe().epochs)
    parser.add_argument("--passes", type=float, default=Recipe().passes)
    parser.add_argument("--further", type=Path, help="a reader to teach further, by labels alone")
    parser.add_argument("--rate", type=float, default=Recipe().rate)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    given = parser.parse_args()
    recipe = Recipe(readers=given.readers, epochs=given.epochs, passes=given.passes, rate=given.rate)
    texts = read_texts(given.stretches)
    if given.further:
        net = taught(given.further)
        teach(net, texts, recipe)
    else:
        net = learn(texts, recipe)
    np.savez_compressed(given.out, **changes(net, ENCODER / "model.onnx"))
    print(f"wrote {given.out.name}, {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
