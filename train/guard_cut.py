"""The guard's texts as `guard_stretches` cut them: the fold of each author, and how often each is drawn."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FOLDS = 5
NOBODY = -9
"""A fold that no author is in."""
SHARE_OF_ATTACKS = 0.45
GROUPS = {"many": 0.5, "own": 0.35, "set in": 0.15, "quantity": 0.1, "tongues": 0.2, "unlabelled": 0.0}
"""How much of what is drawn comes from which texts."""
SOURCES_OF_QUANTITY = ("bench", "packages", "translations")
NOT_LABELLED = ("written", "grammar", "languages", "tongues", *SOURCES_OF_QUANTITY)

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Texts:
    about: list[dict[str, Any]]
    tokens: npt.NDArray[np.int16]
    lengths: Places
    first: Places
    """Where the stretches of each text begin; one more at the end."""
    kinds: Places
    """Of each stretch whether it stands in the open (0) or is hidden (1)."""
    attack: Flags
    labelled: Flags
    """Whether the label is known; of others only what networks say of them can be learnt."""

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
        attack = np.array([bool(row["attack"]) for row in about])
        labelled = np.array([row["part"] != "unlabelled" for row in about])
        return cls(about, padded, lengths, first, kinds, attack, labelled)

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


@dataclass(frozen=True, slots=True)
class Drawing:
    """How texts are drawn: what is left out, and what counts for how much."""

    left_out: int = NOBODY
    hard: float = 2.0
    doubtful: float = 0.5
    own: bool = True
    set_in: bool = True
    alike: float = 0.5
    """How far small authors are made equal to large ones: 1 draws of each as often."""
    unlabelled: float = 0.0
    of_own: float = 1.0
    """How much more our own texts count."""


def weights_of(texts: Texts, drawing: Drawing, folds: Places) -> Numbers:
    """How often each text is drawn: none of the fold left out, of an author by a root of their number."""
    part, source, author = (texts.column(name) for name in ("part", "source", "by"))
    hard, doubt = texts.column("hard").astype(bool), texts.column("doubt").astype(bool)
    others = folds != drawing.left_out
    taught = (part == "train") & others | (part == "set in") & others & drawing.set_in
    taught |= (part == "unlabelled") & (drawing.unlabelled > 0)
    group = np.where(part == "set in", "set in", np.where(source == "more", "many", "own"))
    group = np.where(np.isin(source, SOURCES_OF_QUANTITY), "quantity", group)
    group = np.where(source == "tongues", "tongues", np.where(part == "unlabelled", "unlabelled", group))
    if not drawing.own:
        taught &= source == "more"
    shares = {**GROUPS, "unlabelled": drawing.unlabelled, "own": drawing.of_own * GROUPS["own"]}
    chance = np.zeros(len(part))
    for kind, share in ((True, SHARE_OF_ATTACKS), (False, 1 - SHARE_OF_ATTACKS)):
        for name, part_share in shares.items():
            inside = taught & (texts.attack == kind) & (group == name)
            if inside.any():
                _, number, count = np.unique(author[inside], return_inverse=True, return_counts=True)
                weight = 1 / (count.astype(float) ** drawing.alike)[number]
                weight *= np.where(hard[inside], drawing.hard, 1.0)
                weight *= np.where(doubt[inside], drawing.doubtful, 1.0)
                chance[inside] = share * part_share * weight / weight.sum()
    return chance / chance.sum()
