"""What the journal says about cards, in numbers: how often, how much, how long, how right.

Pure: takes entries of the journal and what people said, returns a value that prints as JSON.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prowess.cards.fitting import Reviewed, agreement, best_threshold
from prowess.types import JournalEntry, JsonObject

Reviews = Mapping[tuple[str, str], bool]
Turns = Sequence[JsonObject]


def card_report(
    selections: Sequence[JournalEntry], outcomes: Sequence[JournalEntry], reviews: Reviews
) -> dict[str, Any]:
    """Everything at once, then by card and by variant."""
    turns = [entry.data for entry in selections]
    worked = _worked(outcomes)
    scores = {(t["selection"], id): score for t in turns for id, score in _scores(t).items()}
    shown = {(t["selection"], one["id"]) for t in turns for one in (*t["injected"], *t["held"])}
    labels = {
        key: Reviewed(scores[key], relevant, key in shown)
        for key, relevant in reviews.items()
        if key in scores
    }
    variants = sorted({t["variant"] for t in turns})
    return {
        **_summary(turns, worked),
        **_accuracy(list(labels.values())),
        "modes": dict(sorted(Counter(t["mode"] for t in turns).items())),
        "skipped": _reasons(turns),
        "cards": {id: _card(id, turns, labels) for id in _cards_of(turns, labels)},
        "variants": {v: _summary([t for t in turns if t["variant"] == v], worked) for v in variants},
    }


def _summary(turns: Turns, worked: Mapping[str, list[bool]]) -> dict[str, Any]:
    injecting = [t for t in turns if t["injected"]]
    times = [float(t["milliseconds"]) for t in turns]
    answers = [ok for t in turns for ok in worked.get(t["selection"], ())]
    tokens = sum(t["tokens"] for t in injecting)
    return {
        "turns": len(turns),
        "injecting": len(injecting),
        "frequency": _share(len(injecting), len(turns)),
        "tokens": tokens,
        "tokens_per_injection": _share(tokens, len(injecting)),
        "errors": sum(len(t["errors"]) for t in turns),
        "error_rate": _share(sum(bool(t["errors"]) for t in turns), len(turns)),
        "milliseconds": {"mean": _mean(times), "p95": _late(times), "longest": max(times, default=0.0)},
        "outcomes": len(answers),
        "succeeded": sum(answers),
        "success": _share(sum(answers), len(answers)),
    }


def _card(id: str, turns: Turns, labels: Mapping[tuple[str, str], Reviewed]) -> dict[str, Any]:
    shown = [one for t in turns for one in t["injected"] if one["id"] == id]
    return {
        "injected": len(shown),
        "frequency": _share(len(shown), len(turns)),
        "tokens": sum(one["tokens"] for one in shown),
        "mean_relevance": _mean([one["relevance"] for one in shown]),
        "versions": sorted({one["version"] for one in shown if one["version"]}),
        **_accuracy([label for (_, card), label in labels.items() if card == id]),
    }


def _accuracy(labels: Sequence[Reviewed]) -> dict[str, Any]:
    if not labels:
        return {"reviewed": 0, "accuracy": None, "suggested_threshold": None}
    return {
        "reviewed": len(labels),
        "accuracy": round(agreement([one[:2] for one in labels]), 4),
        "suggested_threshold": best_threshold(labels),
    }


def _scores(turn: JsonObject) -> dict[str, float]:
    """The score of every card the entry speaks of."""
    shown = {one["id"]: float(one["relevance"]) for one in [*turn["injected"], *turn["held"]]}
    return {**{one["id"]: float(one["score"]) for one in turn["skipped"]}, **shown}


def _worked(outcomes: Iterable[JournalEntry]) -> dict[str, list[bool]]:
    """Selection -> whether what was done with it worked; an outcome that was reported twice counts once."""
    found: dict[str, list[bool]] = {}
    seen: set[str] = set()
    for entry in outcomes:
        key = str(entry.data.get("key") or "")
        if not key or key not in seen:
            found.setdefault(str(entry.data["offer"]), []).append(bool(entry.data["ok"]))
        seen.add(key)
    return found


def _reasons(turns: Turns) -> dict[str, int]:
    """How often each kind of reason kept a card out; what is in brackets differs from card to card."""
    reasons = [one["reason"] for t in turns for one in t["skipped"]]
    return dict(sorted(Counter(reason.partition(" (")[0].partition(":")[0] for reason in reasons).items()))


def _cards_of(turns: Turns, labels: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({one["id"] for t in turns for one in t["injected"]} | {card for _, card in labels})


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), 4) if values else 0.0


def _late(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))] if values else 0.0
