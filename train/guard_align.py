"""Teach the encoder words of other languages: a translation means what the message means. Needs torch.

    python -m train.guard_align --pairs pairs.npz --out aligned.onnx --seconds 120

`pairs.npz` comes from `guard_messages`. The mean of what the encoder makes of each token is learnt, because
that is what the guard's network reads: of a translation it is drawn to what the shipped encoder makes of the
English message, and away from what it makes of others; of English it stays.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from train.graph import minilm, weights_in
from train.model import MiniLM, build, pick_device

RATE, RATE_OF_WORDS = 3e-4, 1e-3
BATCH, ENGLISH = 768, 192
HEAT = 0.05
LONGEST = 96
WARM = 0.05
COOLS_FROM = 0.4

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Messages:
    """English messages and their translations as tokens, on the device, and which belong together."""

    english: Tensor
    translated: Tensor
    whose: Tensor
    """Of each translation the English message."""
    chance: Tensor
    """How often each translation is drawn, as a running sum."""

    @classmethod
    def open(cls, file: Path, device: torch.device) -> "Messages":
        with np.load(file) as kept:
            tables = [padded(kept[f"{name}_tokens"], kept[f"{name}_ends"]) for name in ("english", "other")]
            weight = kept["weight"].astype(np.float64)
            whose = kept["whose"].astype(np.int64)
        english, translated = (torch.from_numpy(table).to(device) for table in tables)
        running = torch.from_numpy(np.cumsum(weight / weight.sum())).to(device)
        return cls(english, translated, torch.from_numpy(whose).to(device), running)

    def drawn(self, count: int) -> Tensor:
        point = torch.rand(count, device=self.chance.device, dtype=torch.float64)
        return torch.searchsorted(self.chance, point).clamp_max(len(self.chance) - 1)


def padded(tokens: npt.NDArray[Any], ends: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    lengths = np.diff(ends.astype(np.int64), prepend=0)
    table = np.zeros((len(ends), int(lengths.max())), np.int16)
    table[np.arange(table.shape[1])[None, :] < lengths[:, None]] = tokens.astype(np.int16)
    return table[:, :LONGEST]


def cut(table: Tensor, rows: Tensor) -> Tensor:
    """Some rows without the padding that all of them share."""
    ids = table[rows]
    return ids[:, : int((ids != 0).sum(1).max())].long()


def mean_state(encoder: MiniLM, ids: Tensor) -> Tensor:
    """What the guard's head reads: the mean over the tokens, not brought to length 1."""
    mask = ids != 0
    parts = encoder.embeddings
    state = parts["word_embeddings"](ids) + parts["token_type_embeddings"].weight[0]
    state = encoder.dropout(parts["LayerNorm"](state + parts["position_embeddings"].weight[: ids.shape[1]]))
    for layer in encoder.encoder["layer"]:
        state = layer(state, mask[:, None, None, :])
    shares = mask / mask.sum(1, keepdim=True)
    return (state * shares[:, :, None]).sum(1)


@torch.no_grad()
def states_of(encoder: MiniLM, table: Tensor, chunk: int = 4096) -> Tensor:
    found = []
    for start in range(0, len(table), chunk):
        rows = torch.arange(start, min(start + chunk, len(table)), device=table.device)
        with torch.autocast(table.device.type, torch.bfloat16):
            found.append(mean_state(encoder, cut(table, rows)).float())
    return torch.cat(found)


def far(state: Tensor, target: Tensor) -> Tensor:
    """How far a state is from what it should be, measured by how large those are."""
    return (state - target).square().sum(1).mean() / target.square().sum(1).mean()


def align(encoder: MiniLM, messages: Messages, seconds: float, batch: int) -> None:
    encoder.eval()
    target = states_of(encoder, messages.english)
    encoder.train()
    words = [encoder.embeddings["word_embeddings"].weight]
    body = [weight for weight in encoder.parameters() if weight is not words[0]]
    rates = (RATE, RATE_OF_WORDS)
    groups = [{"params": part, "lr": rate} for part, rate in zip((body, words), rates, strict=True)]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=words[0].is_cuda)
    began, step = time.monotonic(), 0
    while (gone := (time.monotonic() - began) / seconds) < 1:
        pace = min(1.0, gone / WARM + 0.02, max(0.02, (1 - gone) / (1 - COOLS_FROM)))
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * pace
        loss, near = _step(encoder, messages, target, batch)
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if step % 250 == 0:
            print(f"step {step}, {gone:.0%}: loss {float(loss):.3f}, found {float(near):.1%}", flush=True)
        step += 1
    print(f"{step} steps", flush=True)


def _step(encoder: MiniLM, messages: Messages, target: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    rows = messages.drawn(batch)
    whose = messages.whose[rows]
    english = torch.randint(len(target), (max(1, batch * ENGLISH // BATCH),), device=target.device)
    with torch.autocast(target.device.type, torch.bfloat16):
        said = mean_state(encoder, cut(messages.translated, rows))
        same = mean_state(encoder, cut(messages.english, english))
    said, meant = said.float(), target[whose]
    alike = functional.normalize(said) @ functional.normalize(meant).T / HEAT
    # Two translations of one message are no mistake for each other.
    twins = (whose[:, None] == whose[None, :]) & ~torch.eye(len(whose), dtype=torch.bool, device=whose.device)
    alike = alike.masked_fill(twins, -1e4)
    right = torch.arange(len(rows), device=rows.device)
    loss = functional.cross_entropy(alike, right) + 2 * far(said, meant) + far(same.float(), target[english])
    loss.backward()
    return loss.detach(), (alike.argmax(1) == right).float().mean()


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the encoder words of other languages.")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--batch", type=int, default=BATCH)
    given = parser.parse_args()
    torch.manual_seed(5)
    torch.set_float32_matmul_precision("high")
    device = pick_device()
    start = {name: torch.from_numpy(w) for name, w in weights_in(onnx.load(given.encoder)).items()}
    encoder = build(start).to(device)
    align(encoder, Messages.open(given.pairs, device), given.seconds, given.batch)
    held = {name: weight.detach().float().cpu().numpy() for name, weight in encoder.state_dict().items()}
    given.out.write_bytes(minilm(held).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
