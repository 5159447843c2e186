"""The page `ask`: what a model would see for a request, why, and what was left out.

It is the real turn, previewed: nothing that is tried here is recorded or learnt from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.cards.injection import HEADING as CARDS_HEAD
from prowess.config import DiscoveryConfig
from prowess.engine.engine import Engine
from prowess.engine.preview import Preview, Previewed
from prowess.options import SearchOptions
from prowess.prompt.tiers import TIER0_HEAD, TIER1_HEAD, TIER2_HEAD
from prowess.types import DEFAULT_AGENT, Message, Turn
from prowess.web import identity, page

LONGEST_REQUEST = 4000
SIDES = ("a", "b")


class SettingField(NamedTuple):
    """One number that can be changed for a try."""

    key: str
    label: str
    most: float
    is_whole: bool = True


SETTINGS = (
    SettingField("budget", "Whole budget", 200_000),
    SettingField("tier0_token_budget", "Tier 0 budget", 50_000),
    SettingField("tier1_token_budget", "Tier 1 budget", 50_000),
    SettingField("tier2_token_budget", "Tier 2 budget", 200_000),
    SettingField("tier1_top_k", "Hits at most", 100),
    SettingField("tier2_top_k", "Whole pages at most", 50),
    SettingField("tier1_min_relevance", "Threshold", 1, False),
    SettingField("graph_boost_factor", "Boost by the graph", 1, False),
)


class Bar(NamedTuple):
    """What one part of an offer costs, and what it may, where it has a limit of its own."""

    name: str
    tokens: int
    most: int | None
    colour: str


class PromptPiece(NamedTuple):
    """A part of the text a model sees."""

    name: str
    colour: str
    text: str


@dataclass(frozen=True, slots=True)
class AskForm:
    """One way of asking, as the form says it."""

    name: str
    who: str
    said: Mapping[str, str]
    settings: Mapping[str, float]
    mistakes: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryParams, name: str) -> "AskForm":
        said = {one.key: query.get(f"{name}_{one.key}", "").strip() for one in SETTINGS}
        settings, mistakes = {}, []
        for one in SETTINGS:
            value = _number(said[one.key], one)
            if value is not None:
                settings[one.key] = value
            elif said[one.key]:
                kind = "a whole number" if one.is_whole else "a number"
                mistakes.append(f"{one.label} must be {kind} from 0 to {one.most:g}")
        who = query.get(f"{name}_who", "") or f"agent:{DEFAULT_AGENT}"
        return cls(name, who, said, settings, tuple(mistakes))

    @property
    def is_changed(self) -> bool:
        return any(self.said.values())


@dataclass(frozen=True, slots=True)
class PreviewResult:
    """What came of one way of asking."""

    side: AskForm
    previewed: Previewed
    bars: tuple[Bar, ...]
    pieces: tuple[PromptPiece, ...]
    only_here: frozenset[str] = frozenset()
    """The hits that the other way of asking did not find."""


def asked(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    query = request.query_params
    text = query.get("request", "")[:LONGEST_REQUEST].strip()
    is_compared = bool(query.get("compare"))
    sides = [AskForm.of(query, name) for name in (SIDES if is_compared else SIDES[:1])]
    usable = not any(side.mistakes for side in sides)
    answers = _beside([_answer(engine, side, text) for side in sides]) if text and usable else []
    why = query.get("why", "").strip()
    return page.render(
        request,
        "ask.html",
        title="Ask",
        text=text,
        sides=sides,
        is_compared=is_compared,
        answers=answers,
        why=why,
        steps=_steps(engine, sides[0], why, text) if why else (),
        settings=SETTINGS,
        usual=_usual(engine),
        agents=_agents(engine),
        profiles=sorted(engine.policy.rules.profiles),
    )


def why(request: Request) -> Response:
    """Why something was or was not offered, step by step."""
    identity.person(request)
    engine: Engine = request.app.state.engine
    query = request.query_params
    id, text = query.get("id", ""), query.get("request", "")[:LONGEST_REQUEST]
    steps = _steps(engine, AskForm.of(query, "a"), id, text)
    template = "why_part.html" if page.wants_part(request) else "why.html"
    return page.render(request, template, title="Why", id=id, text=text, steps=steps)


def _answer(engine: Engine, side: AskForm, text: str) -> PreviewResult:
    settings = dict(side.settings)
    budget = settings.pop("budget", None)
    turn = Turn(messages=(Message("user", text),), budget=None if budget is None else int(budget))
    previewed = _preview(engine, side).offer(turn, **cast(SearchOptions, settings))
    return PreviewResult(side, previewed, _bars(previewed, turn.budget), pieces(str(previewed.offer.text)))


def _preview(engine: Engine, side: AskForm) -> Preview:
    kind, _, name = side.who.partition(":")
    return engine.preview(profile=name) if kind == "profile" else engine.preview(agent=name)


def _steps(engine: Engine, side: AskForm, id: str, text: str) -> tuple[str, ...]:
    return _preview(engine, side).explain(id, text)


def _beside(answers: Sequence[PreviewResult]) -> list[PreviewResult]:
    found = [frozenset(hit.id for hit in one.previewed.offer.hits) for one in answers]
    if len(answers) < 2:
        return list(answers)
    return [
        PreviewResult(one.side, one.previewed, one.bars, one.pieces, found[at] - found[1 - at])
        for at, one in enumerate(answers)
    ]


def _bars(previewed: Previewed, budget: int | None) -> tuple[Bar, ...]:
    tokens, chosen = previewed.offer.tokens, previewed.settings
    most = budget if budget is not None else 10**9
    parts = (
        Bar("Tier 0: the map", tokens.tier0, min(most, chosen.tier0_token_budget), "c0"),
        Bar("Tier 1: what fits", tokens.tier1, min(most, chosen.tier1_token_budget), "c1"),
        Bar("Tier 2: whole pages", tokens.tier2, min(most, chosen.tier2_token_budget), "c2"),
        Bar("Cards", tokens.cards, min(most, previewed.card_budget), "c3"),
        Bar("Tools", tokens.tools, budget, "c4"),
    )
    return (*parts, Bar("Together", tokens.total, budget, "c5"))


def pieces(text: str) -> tuple[PromptPiece, ...]:
    """The text cut where its tiers begin; a blank line joins the pieces again."""
    heads = ((TIER0_HEAD, "Tier 0", "c0"), (TIER1_HEAD, "Tier 1", "c1"), (TIER2_HEAD, "Tier 2", "c2"),
             (CARDS_HEAD, "Cards", "c3"))  # fmt: skip
    starts: list[tuple[int, str, str]] = []
    after = 0
    for head, name, colour in heads:
        at = 0 if text.startswith(head) else text.find(f"\n\n{head}", after) + 2
        if at >= 2 or text.startswith(head):
            starts.append((at, name, colour))
            after = at
    ends = [*(at for at, _, _ in starts[1:]), len(text)][: len(starts)]
    return tuple(
        PromptPiece(name, colour, text[at:end].removesuffix("\n\n"))
        for (at, name, colour), end in zip(starts, ends, strict=True)
    )


def _number(text: str, setting: SettingField) -> float | None:
    try:
        value = int(text) if setting.is_whole else float(text)
    except ValueError:
        return None
    return value if 0 <= value <= setting.most else None


def _usual(engine: Engine) -> dict[str, object]:
    chosen: DiscoveryConfig = engine.internals.discovery
    return {one.key: getattr(chosen, one.key, "none") for one in SETTINGS}


def _agents(engine: Engine) -> list[tuple[str, str]]:
    """Everybody who may be asked as, with what they are bound to; the usual one also when it is not bound."""
    bound = {agent.name: agent.profile for agent in engine.agents.list()}
    return sorted({DEFAULT_AGENT: "no profile", **bound}.items())


ROUTES = (Route("/ask", asked), Route("/ask/why", why))
