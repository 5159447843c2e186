"""The default scorer: keywords at word borders and by their stems, weighed by how rare they are, and meaning.

Four things are read for each card and message. `keyword`: the rarest keyword that occurs, all words of
it. `said`: words of the card's name and description that occur. `meaning`: how near the encoder finds
the two. `behind`: how much nearer another card is. A logistic function of them, fitted on labelled
messages, is the score; 0.6 is where a card begins to be worth its tokens. Without an encoder the first
two serve alone. A card counts by its best recent message, and older ones count less.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prowess.cards.card import Card
from prowess.cards.language import primary
from prowess.cards.stems import Stems
from prowess.cards.weights import WITH_MEANING, WORDS_ALONE, CardWeights
from prowess.errors import EncoderUnavailable
from prowess.types import Turn

logger = logging.getLogger("prowess")

Matrix = npt.NDArray[np.float32]
Features = npt.NDArray[np.float64]
Embedder = Callable[[Sequence[str]], Matrix]

FADING = 0.85
"""What a message counts beside the one after it."""
WHOLE_PHRASE = 1.3
"""What a keyword of several words counts beside one word, all being there."""
COMMONEST = 0.7
MOST_SAID = 3.0
"""A long message happens to say many words of a description."""
LONGEST_ENCODED = 240
REMEMBERED = 2000


class Meanings:
    """Vectors of texts, kept while they are likely to come again; none once the encoder has failed."""

    def __init__(
        self,
        embed: Embedder | None,
        remembered: Callable[[Sequence[str]], Mapping[str, Matrix]] = lambda texts: {},
    ) -> None:
        self._embed = embed
        self._remembered = remembered
        self._known: dict[str, Matrix] = {}

    def of_cards(self, gists: Sequence[str]) -> Matrix | None:
        """The vectors of texts that are likely to be in the store."""
        if self._embed is not None:
            self._known |= self._remembered(gists)
        return self.of(gists)

    def of(self, texts: Sequence[str]) -> Matrix | None:
        if self._embed is None or not texts:
            return None
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            if len(self._known) > REMEMBERED:
                self._known.clear()
                missing = list(dict.fromkeys(texts))
            try:
                self._known |= zip(missing, self._embed(missing), strict=True)
            except EncoderUnavailable as failure:
                logger.warning("cards go by words alone: %s", failure)
                self._embed = None
                return None
        return np.stack([self._known[text] for text in texts])


class _Phrase(NamedTuple):
    card: int
    stems: frozenset[str]
    weight: float


class Relevance:
    """The scorer over one deck of cards."""

    def __init__(self, cards: Sequence[Card], meanings: Meanings, weights: CardWeights | None = None) -> None:
        self._cards = cards
        self._meanings = meanings
        self._vectors = meanings.of_cards([gist(card) for card in cards])
        self._weights = weights or (WORDS_ALONE if self._vectors is None else WITH_MEANING)
        self._stems = {language: Stems(language) for language in {primary(card.language) for card in cards}}
        self._read_cards()

    def __call__(self, cards: Sequence[Card], turn: Turn) -> Mapping[str, float]:
        """The score of each card; those without keywords are for router tags alone."""
        scores = np.zeros(len(self._cards))
        for age, message in enumerate(reversed(turn.messages)):
            if message.text.strip():
                scores = np.maximum(scores, FADING**age * self.scores(message.text))
        wanted = {card.id for card in cards if card.keywords}
        return {card.id: float(s) for card, s in zip(self._cards, scores, strict=True) if card.id in wanted}

    def evidence(self, turn: Turn) -> Mapping[str, tuple[float, ...]]:
        """For each card what was read in the message it counts by: what labels are fitted on."""
        best = np.zeros(len(self._cards))
        kept = np.zeros((len(self._cards), 4))
        for age, message in enumerate(reversed(turn.messages)):
            features = self.features(message.text)
            scores = FADING**age * logistic(features, self._weights)
            kept[scores > best] = features[scores > best]
            best = np.maximum(best, scores)
        rows = zip(self._cards, kept.round(4).tolist(), strict=True)
        return {card.id: tuple(row) for card, row in rows}

    def scores(self, text: str) -> Features:
        return logistic(self.features(text), self._weights)

    def features(self, text: str) -> Features:
        """A row for each card: keyword, said, meaning, behind."""
        features = np.zeros((len(self._cards), 4))
        for language, stems in self._stems.items():
            self._read_words(stems.of(text), language, features)
        vector = self._meanings.of([text[:LONGEST_ENCODED]])
        if vector is not None and self._vectors is not None:
            nearness = self._vectors @ vector[0]
            features[:, 2] = nearness
            features[:, 3] = nearness.max() - nearness
        return features

    def _read_words(self, stems: frozenset[str], language: str, features: Features) -> None:
        phrases, said = self._phrases[language], self._said[language]
        for stem in stems:
            for phrase in phrases.get(stem, ()):
                if phrase.stems <= stems:
                    features[phrase.card, 0] = max(features[phrase.card, 0], phrase.weight)
            for card, weight in said.get(stem, ()):
                features[card, 1] = min(features[card, 1] + weight, MOST_SAID)

    def _read_cards(self) -> None:
        """Index every phrase under its rarest stem, and every telling word of a description."""
        self._phrases: dict[str, dict[str, list[_Phrase]]] = {language: {} for language in self._stems}
        self._said: dict[str, dict[str, list[tuple[int, float]]]] = {language: {} for language in self._stems}
        rarity = self._rarity()
        for number, card in enumerate(self._cards):
            language = primary(card.language)
            for phrase in filter(None, map(self._stems[language].of, card.keywords)):
                rarest = max(sorted(phrase), key=lambda stem: rarity.get(stem, 0.0))
                weight = _weight(phrase, rarity)
                entry = _Phrase(number, phrase, weight)
                self._phrases[language].setdefault(rarest, []).append(entry)
            for stem in self._stems[language].telling(f"{card.title} {card.description}"):
                self._said[language].setdefault(stem, []).append((number, rarity[stem]))

    def _rarity(self) -> dict[str, float]:
        """From 1 for a stem that one card has down to 0.7: what many cards share still is a reason."""
        found: dict[str, int] = {}
        for card in self._cards:
            stems = self._stems[primary(card.language)]
            for stem in stems.telling(" ".join([card.title, card.description, *card.keywords])):
                found[stem] = found.get(stem, 0) + 1
        most = len(self._cards)
        return {
            stem: COMMONEST + (1 - COMMONEST) * math.log(most / count + 1) / math.log(most + 1)
            for stem, count in found.items()
        }


def _weight(phrase: frozenset[str], rarity: Mapping[str, float]) -> float:
    telling = [rarity[stem] for stem in phrase if stem in rarity]
    if not telling:
        return 1.0
    return sum(telling) / len(telling) * (WHOLE_PHRASE if len(phrase) > 1 else 1.0)


def gist(card: Card) -> str:
    return f"{card.title}. {card.description}. {', '.join(card.keywords)}"


def logistic(features: Features, weights: CardWeights) -> Features:
    values = np.array(astuple(weights))
    return np.asarray(1 / (1 + np.exp(-(features @ values[:-1] + values[-1]))))
