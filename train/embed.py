"""Encode many texts with a torch model, in batches of like length. Needs torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from train.model import MiniLM

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Words:
    """A tokenizer that never reads the same text twice."""

    tokenizer: Tokenizer
    longest: int
    seen: dict[str, list[int]]

    @classmethod
    def open(cls, path: Path, longest: int) -> "Words":
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        return cls(tokenizer, longest, {})

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        new = sorted({text for text in texts if text not in self.seen})
        for text, found in zip(new, self.tokenizer.encode_batch(new), strict=True):
            self.seen[text] = found.ids
        return [self.seen[text] for text in texts]


def encode(model: nn.Module, tokens: Sequence[Ids], chunk: int = 256) -> Tensor:
    """Encode token ids; texts of like length share a batch, so little of it is padding."""
    device = next(model.parameters()).device
    order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    parts = [order[start : start + chunk] for start in range(0, len(order), chunk)]
    with torch.autocast(device.type, torch.bfloat16):
        vectors = torch.cat([model(*pad([tokens[p] for p in part], device)) for part in parts])
    back = torch.empty(len(order), dtype=torch.long, device=device)
    back[torch.tensor(order, device=device)] = torch.arange(len(order), device=device)
    return vectors[back]


def pad(tokens: Sequence[Ids], device: torch.device) -> tuple[Tensor, Tensor]:
    ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
    mask = ids != 0
    on_device = [torch.from_numpy(array).to(device, non_blocking=True) for array in (ids, mask)]
    return on_device[0], on_device[1]


def vectors_of(model: MiniLM, words: Words, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Encode texts without learning from them."""
    model.eval()
    with torch.no_grad():
        return encode(model, words(texts), chunk=512).cpu().numpy()
