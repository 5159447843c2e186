"""Train the head of the guard's classifier: `python -m train.guard [--all]`. Needs only numpy.

It learns from the labelled texts of ../shared/security and tests/data/guard (the part to tune on, or with
--all everything), from honest tool texts of ../shared/bench, and from texts of our own. Thresholds come from
cross-validation over whole texts and so never from a text the head was trained on.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prowess.context.classifier import (
    BUCKETS,
    SHIPPED,
    Classifier,
    Features,
    features,
    marked,
    scale,
    windows,
)
from prowess.context.quoting import without_frontmatter
from prowess.context.sanitise import Channel, Gravity, gravity, judge, neutralise, read
from train import guard_texts

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
LABELLED = (SHARED / "security", ROOT / "tests" / "data" / "guard")

FOLDS = 5
EPOCHS = 12
STEP = 0.3
DECAY = 1e-5
WEIGHT_OF_ATTACKS = 5.0
SEED = 7

LIGHT, GRAVE = 0.0015, 0.005
"""The share of honest texts the head may reject together with a light and with a grave finding."""


@dataclass(frozen=True, slots=True)
class Example:
    id: str
    text: str
    channel: Channel
    attack: bool
    measured: bool
    """Whether it counts when thresholds are set; texts of our own do not."""

    def windows(self) -> list[Features]:
        body = without_frontmatter(self.text)
        found = read(body).marks()
        return [
            features(window.text, (self.channel, *marked(window, found))) for window in windows(body)
        ] or [features("")]


def in_tune_part(id: str) -> bool:
    """The fixed split by digest of the id: three quarters to tune on, one that stays frozen."""
    return int(hashlib.sha256(id.encode()).hexdigest(), 16) % 4 != 3


def labelled(everything: bool) -> Iterator[Example]:
    for folder in LABELLED:
        for name, attack in (("attacks", True), ("honest", False)):
            for row in _rows(folder / f"{name}.jsonl"):
                # What was placed into a long honest body teaches the body, not the attack.
                placed = row.get("technique", "").startswith("placed")
                if not placed and (everything or in_tune_part(row["id"])):
                    yield Example(row["id"], row["text"], row["channel"], attack, True)


def unlabelled() -> Iterator[Example]:
    for file in sorted((SHARED / "bench").glob("*/tools.jsonl")):
        for row in islice(_rows(file), 0, None, 4):
            if len(row["description"] or "") > 40:
                yield Example(
                    f"{file.parent.name}:{row['id']}", row["description"], "tool_description", False, False
                )
    for number, text in enumerate(guard_texts.attacks()):
        yield Example(f"own-{number}", text, "tool_description", True, False)
    for number, text in enumerate(guard_texts.honest()):
        yield Example(f"ours-{number}", text, "tool_description", False, False)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if file.exists():
        with file.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


Head = tuple[npt.NDArray[np.float64], float]


def fit(examples: Sequence[Example], read: Sequence[list[Features]], chosen: Iterable[int]) -> Head:
    """Logistic regression by AdaGrad; of an attack only the window that reads most like one teaches."""
    weights, squares, bias = np.zeros(BUCKETS), np.ones(BUCKETS), -2.0
    chance = np.random.default_rng(SEED)
    order = np.array(sorted(chosen))
    for epoch in range(EPOCHS):
        for at in chance.permutation(order).tolist():
            attack, taught = examples[at].attack, read[at]
            if attack and epoch >= 2:
                taught = [max(taught, key=lambda found: weights[found].sum() * scale(found))]
            weight = WEIGHT_OF_ATTACKS / len(taught) if attack else 1.0
            for found in taught:
                size = scale(found)
                error = (1 / (1 + np.exp(-(weights[found].sum() * size + bias))) - attack) * weight
                slope = error * size + DECAY * weights[found]
                squares[found] += slope * slope
                weights[found] -= STEP * slope / np.sqrt(squares[found])
                bias -= 0.005 * error
    return weights, bias


def score(head: Head, read: list[Features]) -> float:
    weights, bias = head
    return max(float(weights[found].sum()) * scale(found) + bias for found in read)


def crossed(examples: Sequence[Example], read: Sequence[list[Features]]) -> npt.NDArray[np.float64]:
    """The score of each measured text by a head that has not seen it."""
    folds = np.array(
        [hashlib.md5(e.id.encode()).digest()[0] % FOLDS if e.measured else FOLDS for e in examples]
    )
    scores = np.full(len(examples), -np.inf)
    for fold in range(FOLDS):
        head = fit(examples, read, np.flatnonzero(folds != fold))
        for at in np.flatnonzero(folds == fold).tolist():
            scores[at] = score(head, read[at])
    return scores


def thresholds(examples: Sequence[Example], scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    honest = [at for at, e in enumerate(examples) if e.measured and not e.attack]
    found = {at: _gravity(examples[at]) for at in honest}
    low = _cut([scores[at] for at in honest if found[at] == "grave"], GRAVE * len(honest))
    high = _cut([scores[at] for at in honest if found[at] == "light"], LIGHT * len(honest))
    return max(low, high), low


def _gravity(example: Example) -> Gravity:
    return gravity(judge(example.text, example.channel).findings)


def _cut(scores: Sequence[float], allowed: float) -> float:
    """The score only so many reach, with a margin over the first that does not."""
    ordered = sorted(scores, reverse=True)
    at = int(allowed)
    return float(ordered[at] + 0.1) if at < len(ordered) else 0.0


def report(examples: Sequence[Example], scores: npt.NDArray[np.float64], high: float, low: float) -> None:
    missed = [at for at, e in enumerate(examples) if e.measured and e.attack and not _stopped(e)]
    honest = [at for at, e in enumerate(examples) if e.measured and not e.attack]
    found = [at for at in missed if _rejected(examples[at], scores[at], high, low)]
    touched = [at for at in honest if _rejected(examples[at], scores[at], high, low)]
    print(f"rules miss {len(missed)} attacks; cross-validated, the head finds {len(found)} of them")
    print(f"and rejects {len(touched)} of {len(honest)} honest texts; high {high:.2f}, low {low:.2f}")


def _rejected(example: Example, score: float, high: float, low: float) -> bool:
    found = _gravity(example)
    return found != "none" and score >= (low if found == "grave" else high)


def _stopped(example: Example) -> bool:
    channel = example.channel
    return judge(example.text, channel).verdict == "reject" or neutralise(example.text, channel).changed


def main() -> None:
    examples = [*labelled("--all" in sys.argv), *unlabelled()]
    read = [example.windows() for example in examples]
    scores = crossed(examples, read)
    high, low = thresholds(examples, scores)
    report(examples, scores, high, low)
    weights, bias = fit(examples, read, range(len(examples)))
    SHIPPED.parent.mkdir(exist_ok=True)
    np.savez_compressed(SHIPPED, weights=weights.astype(np.float16), numbers=np.array([bias, high, low]))
    head = Classifier.open()
    print(f"wrote {SHIPPED.relative_to(ROOT)}, {SHIPPED.stat().st_size} bytes, {head is not None}")


if __name__ == "__main__":
    main()
