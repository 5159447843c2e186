"""Cards, turns and a `CardService` for the tests of cards."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prowess.cards.card import Card, card_of
from prowess.cards.guard import shipped_guard
from prowess.cards.history import CardHistory
from prowess.cards.injection import BootstrapFile, Injection
from prowess.cards.scorers import Scoring
from prowess.cards.selection import CardRules, Selection, select
from prowess.config import CardsConfig
from prowess.engine import Engine
from prowess.engine.cards import CardDependencies, CardService
from prowess.engine.prompt_details import PromptDetails
from prowess.sources.files.cards import CardFiles
from prowess.testing import StaticSource, word_embedder
from prowess.token_counts import Counter, estimate
from prowess.types import Draft, Message, Turn

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
BODY = "Use the small model for summaries and the large one for plans. " * 4

ESTIMATE = Counter("estimate", estimate)

AGENTS = BootstrapFile("AGENTS.md", "Be kind.")


def text_of(name: str, keywords: str = "[cost]", body: str = BODY, more: str = "", triggers: str = "") -> str:
    """A card as a file holds it; `more` and `triggers` are further lines of each mapping."""
    lines = "".join(f"  {line}\n" for line in triggers.splitlines())
    return f"---\nid: {name}\n{more}triggers:\n  keywords: {keywords}\n{lines}---\n{body}\n"


def draft(text: str, origin: Any = "repository") -> Draft:
    (one,) = CardFiles(name="cards", paths=(), origin=origin).parse(text, "card.md").drafts
    return one


def card(text: str) -> Card:
    one = draft(text)
    return card_of(one.capability, one.detail.content or "", shipped_guard(), estimate)


def plain(name: str, **fields: Any) -> Card:
    """A card from values, where its text does not matter."""
    usual: dict[str, Any] = {
        "title": name, "description": "", "text": name, "tokens": 100, "priority": 5, "threshold": 0.6,
        "keywords": ("cost",), "session_types": ("main",),
    }  # fmt: skip
    return Card(id=f"card:{name}", name=name, **{**usual, **fields})


def turn(*said: str, **fields: Any) -> Turn:
    return Turn(messages=tuple(Message("user", text) for text in said), **fields)


def always(score: float = 1.0) -> Scoring:
    return lambda cards, turn: {card.id: score for card in cards}


def chosen(selection: Selection) -> list[str]:
    return [one.card.name for one in selection.chosen]


def reasons(selection: Selection) -> dict[str, str]:
    return {one.id.removeprefix("card:"): one.reason for one in selection.skipped}


def selected(cards: Sequence[Card], said: Turn, scoring: Scoring | None = None, **rules: Any) -> Selection:
    return select(cards, said, scoring or always(), CardRules(**rules), NOON)


def source(*texts: str, origin: Any = "repository") -> StaticSource:
    drafts = [draft(text, origin) for text in texts]
    return StaticSource(
        name=f"{origin} cards",
        capabilities=[one.capability for one in drafts],
        details={one.capability.id: one.detail for one in drafts},
    )


def carding(engine: Engine, config: CardsConfig | None = None, **options: Any) -> CardService:
    """The cards of an engine, as the engine makes them."""
    clock = engine.internals.clock
    history = CardHistory(engine.internals.database, engine.internals.journal, clock)
    usual: dict[str, Any] = {"embed": lambda: word_embedder()[1], "root": Path.cwd()}
    made = CardDependencies(
        clock=clock,
        counter=ESTIMATE,
        worlds=engine.internals.worlds,
        detail_of=PromptDetails(engine.internals.catalogue, engine.internals.worlds).of,
        **{**usual, **options},
    )
    return CardService(history, config or CardsConfig(), made)


ECONOMY = text_of("token-economy", "[cost, tokens]", more="name: Token costs\npriority: 10\n")
CALENDAR = text_of("calendar", "[meeting, appointment]", more="name: Calendar\n")
ASKED = turn("How much do tokens cost?")


def ids(injection: Injection) -> list[str]:
    return [one.name for one in injection.injected]


def maker(open_engine: Callable[..., Engine]) -> Callable[..., CardService]:
    """Makes the cards of an engine with these two, or others, and with keys of [cards]."""

    def make(
        *texts: str, options: dict[str, Any] | None = None, origin: Any = "repository", **keys: Any
    ) -> CardService:
        engine = open_engine(source(*(texts or (ECONOMY, CALENDAR)), origin=origin))
        engine.sync()
        cards = carding(engine, CardsConfig(**keys), **(options or {}))
        cards.engine = engine  # type: ignore[attr-defined]
        return cards

    return make
