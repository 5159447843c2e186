"""The network that reads for the guard, in torch, and how one learns. Needs torch.

Above stands `guard_teach`, which says what is learnt and of whom.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from train.guard_align import Messages, cut, far
from train.guard_cut import Numbers, Places, Texts
from train.model import MiniLM, build

INNER = 128
MOST_OF_HONEST, MOST_OF_ATTACK = 4, 8
"""How many stretches of a text are read in one step."""
MASK = 103
"""The token that stands for a hidden one; all words come after it."""
SHORTER = 0.5
"""The shorter half of the stretches is read apart from the longer one, so that less is padding."""
DRAWN_AT_ONCE = 2000
TRANSLATIONS = 64
"""How many translations are read beside the texts of a step."""

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recipe:
    rate: float = 2e-4
    drawn: int = 240_000
    seconds: float = 0.0
    """How long it learns instead of how much, where several share a machine."""
    batch: int = 96
    words_learn: bool = True
    lost: float = 0.15
    """Share of the tokens that are hidden from it while it learns."""
    adversarial: float = 0.5
    """How far each word is nudged; twice as far and it learns too little in this time."""
    every: int = 1
    """In one of so many steps: a step with a nudge takes twice as long."""
    shift: float = 0.0
    """By how much honest texts must stay below, in log-odds."""
    taught_by: float = 0.0
    """How much of what is learnt comes from what other networks say of each stretch, not from labels."""
    translated: float = 0.0
    """How much it counts that the head reads a translation as it reads the English message."""
    seed: int = 1


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
        return self.outer(self.gist(state, mask)).squeeze(-1)

    def gist(self, state: Tensor, mask: Tensor) -> Tensor:
        """What the head makes of a stretch before it says one number."""
        shares = mask / mask.sum(1, keepdim=True)
        seen = (state * shares[:, :, None]).sum(1)
        return torch.tanh(self.inner(self.encoder.dropout(seen)))

    def gist_of(self, ids: Tensor) -> Tensor:
        mask = ids != 0
        state = self.encoder.dropout(self.embedded(ids))
        for layer in self.encoder.encoder["layer"]:
            state = layer(state, mask[:, None, None, :])
        return self.gist(state, mask)


@dataclass(slots=True)
class Desk:
    """The texts on the device, and how a batch of them is read."""

    texts: Texts
    tokens: Tensor
    device: torch.device
    opinions: Tensor | None = None
    """What other networks say of each stretch, in log-odds."""
    messages: Messages | None = None

    @classmethod
    def of(
        cls,
        texts: Texts,
        device: torch.device,
        opinions: Scores | None = None,
        messages: Messages | None = None,
    ) -> "Desk":
        said = None if opinions is None else torch.from_numpy(opinions.astype(np.float32)).to(device)
        return cls(texts, torch.from_numpy(texts.tokens).to(device), device, said, messages)

    def halves(self, windows: Places) -> list[Places]:
        """Places of the shorter and of the longer stretches."""
        order = np.argsort(self.texts.lengths[windows], kind="stable")
        middle = int(SHORTER * len(order))
        return [part for part in (order[:middle], order[middle:]) if len(part)]

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


@dataclass(frozen=True, slots=True)
class Batch:
    """What is learnt in one step: whose each stretch is, what each text is, what others say of a stretch."""

    owners: Tensor
    label: Tensor
    labelled: Tensor
    opinions: Tensor | None

    def loss(self, said: Tensor, recipe: Recipe) -> Tensor:
        """Of an attack the stretch decides that reads most like one; of an honest text all are honest."""
        best = torch.full_like(self.label, -1e4).scatter_reduce(0, self.owners, said, "amax")
        best = torch.where(self.label > 0, best, best + recipe.shift)
        each = functional.binary_cross_entropy_with_logits(best, 0.96 * self.label + 0.02, reduction="none")
        whole = (each * self.labelled).sum() / self.labelled.sum().clamp_min(1)
        honest = ((1 - self.label) * self.labelled)[self.owners]
        target = torch.full_like(said, 0.02)
        every = functional.binary_cross_entropy_with_logits(said, target, reduction="none")
        by_label = whole + 0.3 * (every * honest).sum() / honest.sum().clamp_min(1)
        if self.opinions is None:
            return by_label
        known = torch.isfinite(self.opinions)
        agreed = torch.sigmoid(torch.where(known, self.opinions, 0.0))
        apart = functional.binary_cross_entropy_with_logits(said, agreed, reduction="none")
        by_others = (apart * known).sum() / known.sum().clamp_min(1)
        return (1 - recipe.taught_by) * by_label + recipe.taught_by * by_others


def optimiser_of(net: Net, recipe: Recipe) -> torch.optim.Optimizer:
    net.encoder.embeddings["word_embeddings"].weight.requires_grad_(recipe.words_learn)
    head = [*net.inner.parameters(), *net.outer.parameters()]
    body = [weight for weight in net.encoder.parameters() if weight.requires_grad]
    groups = [{"params": body, "lr": recipe.rate}, {"params": head, "lr": 1e-3}]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=net.inner.weight.is_cuda)


def net_of(start: Mapping[str, Tensor]) -> Net:
    """An encoder with a new head, or a network that learnt before and learns on."""
    net = Net(build(start))
    head = {name: start[name] for name, _ in net.named_parameters() if name in start}
    net.load_state_dict(head, strict=False)
    return net


def pace(gone: float) -> float:
    """The share of the rate after a share of the time."""
    warm = 1 / 12
    return min(gone / warm + 0.01, max(0.02, (1 - gone) / (1 - warm)))


def progress(recipe: Recipe) -> Iterator[float]:
    """After each step which share of the time or of the texts is gone, until nothing is left."""
    steps, began = recipe.drawn // recipe.batch, time.monotonic()
    for step in count():
        gone = (time.monotonic() - began) / recipe.seconds if recipe.seconds else step / steps
        if gone >= 1:
            print(f"{step} steps", flush=True)
            return
        yield gone


def teach(desk: Desk, recipe: Recipe, weights: Numbers, start: Mapping[str, Tensor]) -> Net:
    """A net that has learnt from texts drawn by their weights."""
    torch.manual_seed(recipe.seed)
    chance = np.random.default_rng(recipe.seed)
    net = net_of(start).to(desk.device).train()
    optimiser = optimiser_of(net, recipe)
    rates = [group["lr"] for group in optimiser.param_groups]
    rows = np.zeros((0, recipe.batch), np.int64)
    for step, gone in enumerate(progress(recipe)):
        if step % DRAWN_AT_ONCE == 0:
            size = (DRAWN_AT_ONCE, recipe.batch)
            rows = chance.choice(len(weights), size, p=weights)
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * pace(gone)
        nudged = recipe if step % recipe.every == 0 else replace(recipe, adversarial=0.0)
        loss = _step(net, desk, rows[step % DRAWN_AT_ONCE], nudged, chance)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if step % 200 == 0:
            print(f"step {step}, {gone:.0%}: loss {float(loss):.3f}", flush=True)
    return net.eval()


def _step(net: Net, desk: Desk, rows: Places, recipe: Recipe, chance: Any) -> Tensor:
    attack, labelled = desk.texts.attack[rows], desk.texts.labelled[rows]
    windows, owning = chosen_windows(desk.texts, rows, attack, chance)
    halves = desk.halves(windows)
    windows, owning = (every[np.concatenate(halves)] for every in (windows, owning))
    batch = Batch(
        torch.from_numpy(owning).to(desk.device),
        torch.from_numpy(attack.astype(np.float32)).to(desk.device),
        torch.from_numpy(labelled.astype(np.float32)).to(desk.device),
        desk.opinions[torch.from_numpy(windows).to(desk.device)] if desk.opinions is not None else None,
    )
    parts = np.split(windows, np.cumsum([len(half) for half in halves])[:-1])
    ids = [_partly_hidden(desk.ids(part), recipe.lost) for part in parts]
    kept: list[Tensor] = []
    with torch.autocast(desk.device.type, torch.bfloat16):
        said = torch.cat([net(each, keep=kept if recipe.adversarial else None) for each in ids])
        apart = _translated(net, desk.messages) if recipe.translated and desk.messages else 0.0
    loss = batch.loss(said.float(), recipe)
    (loss + recipe.translated * apart).backward()
    if recipe.adversarial:
        nudges = [_nudge(state, recipe.adversarial) for state in kept]
        with torch.autocast(desk.device.type, torch.bfloat16):
            again = torch.cat([net(*both) for both in zip(ids, nudges, strict=True)])
        batch.loss(again.float(), recipe).backward()
    return loss.detach()


def _translated(net: Net, messages: Messages) -> Tensor:
    """How far the head reads translations from how it reads the English messages."""
    rows = messages.drawn(TRANSLATIONS)
    with torch.no_grad():
        meant = net.gist_of(cut(messages.english, messages.whose[rows]))
    return far(net.gist_of(cut(messages.translated, rows)).float(), meant.float())


def _partly_hidden(ids: Tensor, share: float) -> Tensor:
    gone = (torch.rand(ids.shape, device=ids.device) < share) & (ids != 0) & (ids != 101) & (ids != 102)
    return torch.where(gone, MASK, ids)


def _nudge(state: Tensor, far: float) -> Tensor:
    """A step of this length for each word, to where it misleads most."""
    assert state.grad is not None
    slope = state.grad.float()
    size = slope.norm(dim=-1, keepdim=True)
    return (far * slope / size.clamp_min(1e-9) * (size > 0)).detach()


@torch.no_grad()
def opinion(net: Net, desk: Desk, windows: Places, chunk: int = 2048) -> Scores:
    order = windows[np.argsort(desk.texts.lengths[windows])]
    out = np.zeros(len(desk.texts.lengths), np.float32)
    for start in range(0, len(order), chunk):
        part = order[start : start + chunk]
        with torch.autocast(desk.device.type, torch.bfloat16):
            out[part] = net(desk.ids(part)).float().cpu().numpy()
    return out[windows]


def plain_weights(net: Net) -> dict[str, npt.NDArray[np.float32]]:
    """The weights under the names that `train.graph` knows."""
    held = {name: weight.detach().float().cpu().numpy() for name, weight in net.state_dict().items()}
    inner = ("encoder.embeddings.", "encoder.encoder.")
    return {
        name.removeprefix("encoder.") if name.startswith(inner) else name: weight
        for name, weight in held.items()
    }


def best_by_kind(texts: Texts, rows: Sequence[int], said: Scores) -> Numbers:
    """The highest score of each text among what it says and among what it hides."""
    every = np.full((2, len(texts.lengths)), -np.inf)
    places = np.arange(len(said))
    every[texts.kinds, places] = said
    return np.array([every[:, texts.first[row] : texts.first[row + 1]].max(axis=1) for row in rows])
