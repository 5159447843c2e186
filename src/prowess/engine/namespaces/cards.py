"""`engine.cards`: what people read about cards and say about them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np

from prowess.cards.card import Card
from prowess.cards.fitting import Labelled, agreement, fit
from prowess.cards.reference import read_reference
from prowess.cards.relevance import logistic
from prowess.cards.report import card_report
from prowess.cards.rules import Rollout, rollout
from prowess.cards.texts import baseline, capability_list
from prowess.cards.weights import WITH_MEANING, WORDS_ALONE, CardWeights
from prowess.engine.cards import CardService
from prowess.errors import ProwessError
from prowess.journal import JournalPosition
from prowess.journal.entries import CardsFailed, CardsSelected
from prowess.types import DEFAULT_AGENT, JournalEntry, JsonObject

FEWEST_LABELS = 10


@dataclass(frozen=True, slots=True)
class Cards:
    """Just-in-time cards: which there are, how injecting them went, and whether it was right."""

    _service: CardService

    def list(self, agent: str = DEFAULT_AGENT) -> tuple[Card, ...]:
        """Every card an agent may see, also those the guard rejects, with why.

        agent: who.
        """
        return self._service.cards(agent)

    def list_capabilities(self, detail: str = "summary", agent: str = DEFAULT_AGENT) -> str:
        """Answer a model's call of `list_capabilities`.

        detail: "summary" or "full".
        agent: who calls.
        """
        return capability_list(self.list(agent), detail)

    def baseline(self, agent: str = DEFAULT_AGENT) -> str:
        """The text every agent starts with: that there are cards, and how to ask for them.

        agent: who.
        """
        return baseline(self.list(agent))

    def read_reference(self, path: str = "") -> str:
        """Answer a model's call of `read_reference`: the deep reference, which is never loaded by itself.

        path: one of the files, or in one of the folders, of `[cards] reference`; empty for the first.
        """
        service = self._service
        given = service.dependencies
        return read_reference(given.root, service.config.reference, path, service.guard)

    def report(self, since: datetime | None = None, until: datetime | None = None) -> dict[str, Any]:
        """How often, how much, how long, how right: in all, by card and by variant.

        since: only what happened from then on; without it, from the beginning.
        until: only what happened before then; without it, until now.
        """
        service = self._service
        history = service.history
        rate = history.rate(service.config.auto_disable_window_hours)
        selections = history.between(CardsSelected.type, since, until)
        # What came of a selection is told later, so it counts whenever it was told.
        found = card_report(selections, history.between("outcome", since), history.reviews())
        failures = len(history.between(CardsFailed.type, since, until))
        return {**found, "failures": failures, "stopped": service.is_stopped(rate)}

    def recent(self, limit: int = 20, before: JournalPosition | None = None) -> tuple[JsonObject, ...]:
        """The last selections, the newest last, with what people said about them.

        limit: at most so many.
        before: only what is older than this place in the journal.
        """
        history = self._service.history
        reviews = history.reviews()
        return tuple(_with_reviews(entry, reviews) for entry in history.selections(limit, before))

    def review(self, selection: str, card: str, right: bool, by: str = "a person") -> None:
        """Say whether it was right that a turn got a card, or that it did not.

        selection: the id of the selection; for an offer, the id of the offer.
        card: its name or id, such as "billing".
        right: whether it was right.
        by: who says so.
        """
        history = self._service.history
        data = history.selection(selection)
        id = card if card.startswith("card:") else f"card:{card}"
        was_shown = id in {one["id"] for one in (*data["injected"], *data["held"])}
        history.review(data["selection"], id, relevant=was_shown == right, by=by)

    def fit(self) -> JsonObject:
        """Refit `relevance` from what people said; only ever when a person asks."""
        service, labels = self._service, self._labels()
        if len(labels) < FEWEST_LABELS:
            raise ProwessError(
                f"{len(labels)} labels are too few to fit on; {FEWEST_LABELS} are the least",
                "say more: prowess cards review SELECTION CARD --right|--wrong",
            )
        before = service.history.rate(service.config.auto_disable_window_hours).weights or WITH_MEANING
        has_meaning = any(label.features[2] for label in labels)
        weights = fit(labels, WITH_MEANING if has_meaning else WORDS_ALONE)
        service.history.keep_weights(weights, len(labels))
        agreed = {name: _agreement(labels, w) for name, w in (("before", before), ("after", weights))}
        return {"labels": len(labels), "weights": asdict(weights), **agreed}

    def _labels(self) -> Sequence[Labelled]:

        history = self._service.history
        reviews = history.reviews()
        return [
            Labelled(tuple(features), relevant)
            for entry in history.selections()
            for card, features in entry.data["features"].items()
            if (relevant := reviews.get((entry.data["selection"], card))) is not None
        ]

    def keep(self, text: str) -> str:
        """Keep a card in the store, where sources of type stored-cards find it; returns its name.

        text: the whole card, frontmatter included.
        """
        return self._service.history.keep_card(text)

    def drop(self, name: str) -> None:
        """Take a card out of the store again.

        name: as `keep` returned it.
        """
        self._service.history.drop_card(name)

    def resume(self, by: str = "a person") -> None:
        """Let cards be injected again after the kill switch, before the rate has fallen by itself.

        by: who says so.
        """
        self._service.history.resume(by)

    def rollout(self) -> Rollout:
        """How cards are let out now, and where the kill switch stands."""
        service = self._service
        rate = service.history.rate(service.config.auto_disable_window_hours)
        return rollout(service.config, rate.turns, rate.injecting, service.is_stopped(rate))


def _with_reviews(entry: JournalEntry, reviews: Mapping[tuple[str, str], bool]) -> JsonObject:
    id = entry.data["selection"]
    said = {card: relevant for (selection, card), relevant in reviews.items() if selection == id}
    place = {"at": entry.at, "agent": entry.chain, "number": entry.number}
    return {**entry.data, **place, "relevant": said}


def _agreement(labels: Sequence[Labelled], weights: CardWeights) -> float:

    scores = logistic(np.array([label.features for label in labels]), weights)
    return round(agreement([(float(s), label.relevant) for s, label in zip(scores, labels, strict=True)]), 4)
