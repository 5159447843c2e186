"""Just-in-time cards in a turn: from what the agent may see to files with one more in them.

Above: the engine. Below: `context`, which scores, selects and places; `card_history`, which remembers.
Awareness fails open: whatever goes wrong here is recorded, and the agent starts with the files it had.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from prowess.cards.card import Card, Guard, Guarded, card_of, guarded_whole
from prowess.cards.guard import card_guard
from prowess.cards.history import CardHistory, InjectionRate
from prowess.cards.injection import (
    BootstrapFile,
    Files,
    Injection,
    as_files,
    as_recorded,
    audit_text,
    baseline_warnings,
    fitted,
    place,
    told,
)
from prowess.cards.relevance import Embedder, Matrix, Meanings, Relevance, gist
from prowess.cards.rules import (
    FEWEST_TURNS,
    check_names,
    local_time,
    recent,
    rules_for,
    variant_of,
    why_held_back,
)
from prowess.cards.scorers import Scorer, Scoring, keyword, named, one_by_one
from prowess.cards.selection import Selection, nearest, select
from prowess.cards.verdicts import CardVerdicts
from prowess.cards.weights import CardWeights
from prowess.catalogue.findings import MOST_JUDGED
from prowess.config import CardsConfig, cards_with_arguments
from prowess.engine.options import new_id
from prowess.engine.turn_log import owned
from prowess.errors import EncoderUnavailable
from prowess.guard.classifier import Classifier
from prowess.guard.scan import card_parts
from prowess.journal import Clock
from prowess.journal.entries import CardsFailed, CardsSelected
from prowess.options import CardOptions
from prowess.store.database import Transaction
from prowess.token_counts import Counter
from prowess.types import DEFAULT_AGENT, Capability, Detail, Message, Turn
from prowess.world import World, Worlds

logger = logging.getLogger("prowess")

NEAREST = 20
RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDependencies:
    """What cards take from the engine and from user code."""

    clock: Clock
    counter: Counter
    worlds: Worlds
    """Where what people ask about cards outside of a turn is read."""
    detail_of: Callable[[Capability], Detail]
    embed: Callable[[], Embedder | None] = lambda: None
    """Opens the encoder, at the first selection."""
    remembered: Callable[[Sequence[str]], Mapping[str, Matrix]] = lambda texts: {}
    """Of these texts, the vectors that are in the store."""
    remember: Callable[[Sequence[str]], None] = lambda texts: None
    """Makes the vectors of texts and puts them there."""
    guard: Guard | None = None
    """Without one, the guard of the package, whose verdicts are kept in the store."""
    classifier: Callable[[], Classifier | None] = Classifier.open
    """What that guard judges with."""
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    session_type_of: Callable[[str], str] | None = None
    messages_of: Callable[[str, int], Sequence[Message]] | None = None
    """Session, how many -> the last messages, where the caller hands over none."""
    ids: Callable[[], str] = new_id
    timer: Callable[[], float] = time.perf_counter
    root: Path = field(default_factory=Path)


@dataclass(frozen=True, slots=True)
class _Deck:
    """The cards of one agent, ready to be scored, and what they were made from."""

    made_from: Mapping[str, Capability]
    cards: tuple[Card, ...]
    weights: CardWeights | None
    relevance: Relevance


@dataclass(frozen=True, slots=True)
class Selected:
    """The cards of a turn, and what is recorded of them; nothing is written before somebody records it."""

    injection: Injection
    entry: CardsSelected | None = None
    failure: str = ""


class CardService:
    def __init__(self, history: CardHistory, config: CardsConfig, dependencies: CardDependencies) -> None:
        scorers: dict[str, Scorer | None] = {RELEVANCE: None, "keyword": keyword, **dependencies.scorers}
        scorers |= named((config.scorer, *config.experiment), dependencies.root)
        check_names(config, scorers)
        self.history = history
        self.config = config
        self.dependencies = dependencies
        self._scorers = scorers
        self._verdicts = CardVerdicts(history.database, lambda: card_guard(dependencies.classifier()))
        self.guard: Guard = dependencies.guard or self._verdicts
        self._nothing = Injection(files=())
        self._meanings: Meanings | None = None
        self._made: dict[tuple[str, str], Card] = {}
        self._guarded: dict[tuple[str, str], Guarded] = {}
        self._has_judged = False
        self._decks: dict[tuple[str, bool], _Deck] = {}

    # --- a turn --------------------------------------------------------------------------------

    def inject(self, files: Files, turn: Turn, session: str = "") -> Injection:
        """The files with the cards this turn needs; the same files when it needs none. Recorded."""
        given = as_files(files)
        if not self.config.enabled:
            return Injection(files=given)
        selected = self.select(turn, self.dependencies.worlds.now(turn.agent), session, given)
        with self.history.database.writing() as transaction:
            self.record(transaction, selected, turn)
        return replace(selected.injection, files=place(given, selected.injection.text))

    def select(
        self, turn: Turn, world: World, session: str = "", files: Sequence[BootstrapFile] = (), id: str = ""
    ) -> Selected:
        """What `inject` would place, recorded nowhere; `id` names the turn, such as the id of its offer."""
        if not self.config.enabled:
            return Selected(Injection(files=tuple(files)))
        try:
            return self._selected(
                self._completed(turn, session),
                world,
                session,
                files,
                id or owned(self.dependencies.ids(), turn.agent),
            )
        except Exception as failure:  # a broken card system never stops an agent from starting
            logger.warning("cards could not be selected: %s", failure)
            warnings = (f"cards could not be selected: {failure}",)
            return Selected(
                Injection(files=tuple(files), warnings=warnings),
                failure=f"{type(failure).__name__}: {failure}",
            )

    def record(self, transaction: Transaction, selected: Selected, turn: Turn) -> None:
        """Write down what came of a selection, and count it."""
        if selected.failure:
            failed = CardsFailed(request=turn.text, error=selected.failure)
            self.history.journal.append(transaction, failed, turn.agent)
        elif selected.entry is not None:
            is_counted = selected.injection.mode != "monitor"
            self.history.write(transaction, selected.entry, turn.agent, is_counted)
        if self._has_judged:
            self._has_judged = False
            self._verdicts.keep(transaction)

    def _selected(
        self, turn: Turn, world: World, session: str, files: Sequence[BootstrapFile], id: str
    ) -> Selected:
        start = self.dependencies.timer()
        deck = self._deck(turn, world)
        if not deck.cards:
            warnings = baseline_warnings(files) if files else ()
            return Selected(replace(self._nothing, files=tuple(files), id=id, warnings=warnings))
        rules = rules_for(self.config, turn)
        read = recent(turn, self.config.messages)
        variant = variant_of(self.config, read, session)
        now = local_time(self.config, turn, self.dependencies.clock)
        errors: list[str] = []
        scoring = self._scoring(variant, deck, lambda card, why: errors.append(f"{card}: {why}"))
        chosen = select(deck.cards, read, scoring, rules, now)
        selection, text = fitted(chosen, rules.budget, self.dependencies.counter.count)
        held_back = why_held_back(self.config, turn, self.is_stopped(world.cards))
        placed = told(selection, text, held_back)
        injection = replace(
            placed,
            id=id,
            files=tuple(files),
            warnings=(*baseline_warnings(files), *errors),
            file_tokens=self.dependencies.counter.count(placed.text),
            mode=self.config.mode,
            variant=variant,
            milliseconds=round((self.dependencies.timer() - start) * 1000, 3),
        )
        features = deck.relevance.evidence(read) if variant == RELEVANCE else {}
        if audit := audit_text(injection, self.config.log_level):
            logger.info("%s", audit)
        return Selected(injection, _selection_entry(injection, turn, selection, errors, features))

    def _completed(self, turn: Turn, session: str) -> Turn:
        """The turn with the messages and the session type that user code knows."""
        dependencies = self.dependencies
        if not turn.messages and dependencies.messages_of is not None:
            turn = replace(turn, messages=tuple(dependencies.messages_of(session, self.config.messages)))
        if session and dependencies.session_type_of is not None:
            turn = replace(turn, session_type=dependencies.session_type_of(session))
        return turn

    def _scoring(self, variant: str, deck: _Deck, failed: Callable[[str, str], None]) -> Scoring:
        scorer = self._scorers[variant]
        return deck.relevance if scorer is None else one_by_one(scorer, failed)

    def is_stopped(self, rate: InjectionRate) -> bool:
        return rate.is_stopped(self.config.auto_disable_threshold, FEWEST_TURNS)

    def having(self, **options: Unpack[CardOptions]) -> "CardService":
        """The same cards with other keys of [cards], for one call."""
        if not options:
            return self
        other = CardService(self.history, cards_with_arguments(self.config, options), self.dependencies)
        other._meanings, other._made, other._decks = self._opened_meanings(), self._made, self._decks
        other._verdicts, other.guard, other._guarded = self._verdicts, self.guard, self._guarded
        return other

    # --- the deck ------------------------------------------------------------------------------

    def cards(self, agent: str = DEFAULT_AGENT) -> tuple[Card, ...]:
        """Every card this agent may see, also those the guard rejects, with why."""
        return self._deck(Turn(messages=(), agent=agent), self.dependencies.worlds.now(agent)).cards

    def _deck(self, turn: Turn, world: World) -> _Deck:
        key = (turn.agent, turn.authenticated)
        seen, weights = world.visible(*key), world.cards.weights
        visible = seen.capabilities
        held = self._decks.get(key)
        if held is None or held.made_from is not visible or held.weights != weights:
            cards = tuple(
                self._card(one, world) for one in seen.of_kind("card").values() if self._is_usable(one)
            )
            relevance = Relevance(cards, self._opened_meanings(), weights)
            held = self._decks[key] = _Deck(visible, cards, weights, relevance)
        return held

    def _is_usable(self, capability: Capability) -> bool:
        from_workspace = capability.metadata.get("origin") == "workspace"
        known = capability.kind == "card" and "triggers" in capability.metadata
        return known and capability.available and (self.config.workspace or not from_workspace)

    def _card(self, capability: Capability, world: World) -> Card:
        key = (capability.id, capability.digest)
        if key not in self._made:
            content = self.dependencies.detail_of(capability).content or ""
            self._has_judged = True
            self._made[key] = card_of(capability, content, self.guard, self.dependencies.counter.count)
        return self._made[key].accepted_as_it_is(world.view.accepted.get(key, ""))

    def prepare(self, vectors: bool) -> None:
        """Judge and read the cards there are, so that no turn waits for it; of very many, the first."""
        world = self.dependencies.worlds.now()
        usable = [one for one in world.view.of_kind("card").values() if self._is_usable(one)]
        cards = [self._card(one, world) for one in usable[:MOST_JUDGED]]
        if self._verdicts.has_news:
            with self.history.database.writing() as transaction:
                self._verdicts.keep(transaction)
        if vectors:
            self.dependencies.remember([gist(card) for card in cards])

    def rejected(self, capability: Capability) -> tuple[str, ...]:
        """Why the guard lets no turn have this card; nothing where it does, or where a person took it."""
        found = self.guarded(capability)
        if not found.reasons or found.absolute:
            return found.reasons
        key = (capability.id, capability.digest)
        return () if key in self.dependencies.worlds.now().view.accepted else found.reasons

    def guarded(self, capability: Capability) -> Guarded:
        """What the guard finds in any text of a card, and what of it nobody may accept."""
        key = (capability.id, capability.digest)
        if key not in self._guarded:
            content = self.dependencies.detail_of(capability).content or ""
            self._guarded[key] = guarded_whole(card_parts(capability, content), self.guard)
        return self._guarded[key]

    def _opened_meanings(self) -> Meanings:
        if self._meanings is None:
            try:
                self._meanings = Meanings(self.dependencies.embed(), self.dependencies.remembered)
            except EncoderUnavailable as unavailable:
                logger.warning("cards go by words alone: %s", unavailable)
                self._meanings = Meanings(None)
        return self._meanings


def _selection_entry(
    injection: Injection, turn: Turn, selection: Selection, errors: Sequence[str],
    features: Mapping[str, tuple[float, ...]],
) -> CardsSelected:  # fmt: skip
    skipped = list(nearest(selection, NEAREST))
    named = [one.id for one in (*injection.injected, *injection.held)] + [one.id for one in skipped]
    return CardsSelected(
        selection=injection.id,
        request=turn.text,
        session_type=turn.session_type,
        **as_recorded(injection, skipped),
        held_back=injection.held_back,
        tokens=injection.tokens_used,
        truncated=injection.truncated,
        errors=list(errors),
        warnings=list(injection.warnings),
        mode=injection.mode,
        variant=injection.variant,
        milliseconds=injection.milliseconds,
        features={id: list(features[id]) for id in named if id in features},
    )
