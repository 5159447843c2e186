"""Turn the encoder's upper layers to reading for the guard. Needs torch and onnx.

    python -m train.guard_reader --weights fitted.safetensors

`--weights` are those the shipped encoder was converted from. What is learnt are two narrow matrices for each
weight of the upper layers, and a head; they are written to `src/prowess/context/model/reader.npz`, with the
digest of the encoder they belong to. Every fifth text is kept back: `train.guard` sets limits by those. The
lower layers never change, so what they make of each stretch is computed once.
"""

import argparse
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrize

from prowess.context.quoting import without_frontmatter
from prowess.context.reader import ENCODER, SHARPNESS, SHIPPED, TOKENS, asked, folded, stretches
from prowess.context.sanitise import DOCUMENTS
from train.embed import Ids, Words, pad
from train.fit import advance, pace
from train.graph import HEAD_WIDTH
from train.guard_texts import Example, examples, kept_back
from train.model import MiniLM, load

UNCHANGED = 3
"""So many lower layers stay as they are."""
RANK = 32
INNER = 64
MOST_OF_HONEST, MOST_OF_ATTACK = 2, 8
"""How many stretches of a text are read in one step."""
EVERY = 4
"""Of honest texts in quantity, one of so many is read."""
TOGETHER = 40
"""Stretches of like length that are computed together."""

Change = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Recipe:
    epochs: float = 4
    batch: int = 48
    rate: float = 6e-4
    seed: int = 1


class Narrow(nn.Module):
    """A weight, and a product of two narrow matrices added to it."""

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
        self.b = nn.Parameter(torch.zeros(outputs, RANK))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.b @ self.a


class Upper(nn.Module):
    """The encoder's upper layers, turned, and a head on the mean of what they see."""

    def __init__(self, encoder: MiniLM) -> None:
        super().__init__()
        self.layers = nn.ModuleList(encoder.encoder["layer"][UNCHANGED:])
        for part in dense(self.layers):
            parametrize.register_parametrization(part, "weight", Narrow(*part.weight.shape))
        self.inner, self.outer = nn.Linear(encoder_width(encoder), INNER), nn.Linear(INNER, 1)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layers:
            state = layer(state, mask[:, None, None, :])
        shares = mask / mask.sum(1, keepdim=True)
        seen = functional.normalize((state.float() * shares[:, :, None]).sum(1), dim=1)
        return self.outer(torch.tanh(self.inner(SHARPNESS * seen))).squeeze(-1)


def encoder_width(encoder: MiniLM) -> int:
    return int(encoder.embeddings["word_embeddings"].embedding_dim)


def dense(part: nn.Module) -> list[nn.Linear]:
    return [each for each in part.modules() if isinstance(each, nn.Linear)]


def round_dense(encoder: MiniLM) -> None:
    """Make the weights what they are in the shipped file."""
    for part in dense(encoder):
        scale = part.weight.detach().abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        part.weight.data = torch.round(part.weight.detach() / scale) * scale


def read_as(one: Example) -> list[str]:
    """The stretches of a text, as the reader will see them."""
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    plain = folded(body)
    said = [asked(plain[start:end], one.channel) for start, end in stretches(plain)]
    return [each.encode("utf-8", "replace").decode() for each in said]


@torch.no_grad()
def lower_states(encoder: MiniLM, tokens: Sequence[Ids]) -> list[Tensor]:
    """What the unchanged layers make of each stretch."""
    found: dict[int, Tensor] = {}
    parts = encoder.embeddings
    for numbers in alike([len(each) for each in tokens]):
        ids, mask = pad([tokens[n] for n in numbers], torch.device("cpu"))
        state = parts["word_embeddings"](ids) + parts["token_type_embeddings"].weight[0]
        state = parts["LayerNorm"](state + parts["position_embeddings"].weight[: ids.shape[1]])
        for layer in encoder.encoder["layer"][:UNCHANGED]:
            state = layer(state, mask[:, None, None, :])
        found |= {n: state[row, : len(tokens[n])].bfloat16() for row, n in enumerate(numbers)}
    return [found[n] for n in range(len(tokens))]


def alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of stretches of like length, so that little is padding."""
    order = sorted(range(len(lengths)), key=lambda n: lengths[n])
    yield from (order[at : at + TOGETHER] for at in range(0, len(order), TOGETHER))


def scores(net: Upper, states: Sequence[Tensor]) -> Tensor:
    found, order = [], []
    with torch.autocast("cpu", torch.bfloat16), parametrize.cached():
        for numbers in alike([len(state) for state in states]):
            chosen = [states[n] for n in numbers]
            state = nn.utils.rnn.pad_sequence(chosen, batch_first=True)
            lengths = torch.tensor([len(each) for each in chosen])
            found.append(net(state, torch.arange(state.shape[1]) < lengths[:, None]))
            order += numbers
    return torch.cat(found)[torch.tensor(np.argsort(order))].float()


def teach(net: Upper, texts: Sequence[Sequence[Tensor]], attack: Sequence[bool], recipe: Recipe) -> None:
    """From labels: the stretch of a text that reads most like an attack is what the label is about."""
    chance = np.random.default_rng(recipe.seed)
    net.train()
    narrow = [weight for weight in net.layers.parameters() if weight.requires_grad]
    head = [*net.inner.parameters(), *net.outer.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": narrow, "lr": recipe.rate}, {"params": head, "lr": 1e-3}], weight_decay=0.01
    )
    steps = max(1, round(recipe.epochs * len(texts) / recipe.batch))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: pace(step, steps))
    waiting: list[int] = []
    for _ in range(steps):
        if len(waiting) < recipe.batch:
            waiting += chance.permutation(len(texts)).tolist()
        chosen, waiting = waiting[: recipe.batch], waiting[recipe.batch :]
        read = [_some(texts[n], attack[n], chance) for n in chosen]
        label = torch.tensor([float(attack[n]) for n in chosen])
        owners = torch.tensor([n for n, text in enumerate(read) for _ in text])
        said = scores(net, [stretch for text in read for stretch in text])
        best = torch.full((len(read),), -1e4).scatter_reduce(0, owners, said, "amax")
        loss = functional.binary_cross_entropy_with_logits(best, 0.96 * label + 0.02, reduction="none")
        advance((loss * (1 + label)).mean(), [*narrow, *head], optimiser)
        schedule.step()


def _some(text: Sequence[Tensor], attack: bool, chance: np.random.Generator) -> Sequence[Tensor]:
    if attack or len(text) <= MOST_OF_HONEST:
        return text[:MOST_OF_ATTACK]
    return [text[n] for n in chance.choice(len(text), MOST_OF_HONEST, replace=False)]


def changes(net: Upper, encoder: Path) -> Change:
    """What was learnt, as `prowess.context.reader.turned` works it into the encoder's file."""
    content = encoder.read_bytes()
    places = {each.name: content.find(each.raw_data) for each in onnx.load(encoder).graph.initializer}
    found: Change = {}
    for number, (name, left, right) in enumerate(_products(net)):
        found[f"at_{number}"] = np.array([places[f"{name}.kernel"], places[f"{name}.scale"]])
        found[f"left_{number}"] = left.detach().numpy().astype(np.float16)
        found[f"right_{number}"] = right.detach().numpy().astype(np.float16)
    head = (net.inner.weight, net.inner.bias, net.outer.weight[0])
    found |= {f"head_{n}": weight.detach().numpy().astype(np.float16) for n, weight in enumerate(head)}
    found["head_3"] = np.array(float(net.outer.bias.detach()))
    found["encoder"] = np.array(hashlib.sha256(content).hexdigest())
    return found


def _products(net: Upper) -> Iterator[tuple[str, Tensor, Tensor]]:
    """For each matrix of the graph its name and the two that are multiplied, inputs first."""
    for number, layer in enumerate(net.layers, UNCHANGED):
        start = f"encoder.layer.{number}"
        inside = [_narrow(layer.attention["self"][name]) for name in ("query", "key", "value")]
        # The graph has these three side by side, and the factor of attention in the first.
        factors = (HEAD_WIDTH**-0.5, 1.0, 1.0)
        wide = [b.T * factor for (_, b), factor in zip(inside, factors, strict=True)]
        yield f"{start}.attention.joined", torch.cat([a.T for a, _ in inside], 1), torch.block_diag(*wide)
        for name, part in (
            ("attention.output", layer.attention["output"]["dense"]),
            ("intermediate.dense", layer.intermediate["dense"]),
            ("output.dense", layer.output["dense"]),
        ):
            a, b = _narrow(part)
            yield f"{start}.{name}", a.T, b.T


def _narrow(part: nn.Module) -> tuple[Tensor, Tensor]:
    learnt = part.parametrizations.weight[0]
    return learnt.a, learnt.b


def taught_with() -> list[Example]:
    """All texts but those kept back; of the honest ones in quantity a few."""
    seen = [one for one in examples() if not kept_back(one)]
    many = {one.id for one in [one for one in seen if one.source in ("bench", "packages")][::EVERY]}
    return [one for one in seen if one.source not in ("bench", "packages") or one.id in many]


def main() -> None:
    parser = argparse.ArgumentParser(description="Turn the encoder to reading for the guard.")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--epochs", type=float, default=Recipe().epochs)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    given = parser.parse_args()
    recipe = Recipe(epochs=given.epochs)
    torch.manual_seed(recipe.seed)
    encoder = load(given.weights).eval().requires_grad_(False)
    round_dense(encoder)
    words = Words.open(ENCODER / "tokenizer.json", TOKENS)
    texts = [(one, said) for one in taught_with() if (said := read_as(one))]
    states = lower_states(encoder, words([each for _, said in texts for each in said]))
    by_text = np.split(np.arange(len(states)), np.cumsum([len(said) for _, said in texts])[:-1])
    net = Upper(encoder)
    read = [[states[n] for n in numbers.tolist()] for numbers in by_text]
    teach(net, read, [one.attack for one, _ in texts], recipe)
    np.savez_compressed(given.out, **changes(net, ENCODER / "model.onnx"))
    print(f"{len(texts)} texts; wrote {given.out.name}, {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
