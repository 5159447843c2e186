"""From `[cards]` and a turn to what holds for it: the profile, the budget, the scorer, the rollout."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from hashlib import sha256
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from prowess.cards.selection import CardRules
from prowess.config import CardProfileConfig, CardsConfig
from prowess.errors import ConfigError, nearest
from prowess.types import Turn

BUILT_IN = {"full": CardProfileConfig(), "minimal": CardProfileConfig(max_tokens=500)}
FEWEST_TURNS = 50
"""Below this many turns a rate says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """How cards are let out, and how close the last turns came to the kill switch."""

    enabled: bool
    mode: str
    sessions: tuple[str, ...]
    scorer: str
    experiment: Mapping[str, float]
    threshold: float
    """The share of turns with a card above which the kill switch stops all cards."""
    window_hours: int
    fewest_turns: int
    turns: int
    injecting: int
    stopped: bool


def rollout(config: CardsConfig, turns: int, injecting: int, stopped: bool) -> Rollout:
    return Rollout(
        enabled=config.enabled,
        mode=config.mode,
        sessions=tuple(config.sessions),
        scorer=config.scorer,
        experiment=config.experiment,
        threshold=config.auto_disable_threshold,
        window_hours=config.auto_disable_window_hours,
        fewest_turns=FEWEST_TURNS,
        turns=turns,
        injecting=injecting,
        stopped=stopped,
    )


def rules_for(config: CardsConfig, turn: Turn) -> CardRules:
    """What configuration and the agent's profile say; what any of them excludes stays out."""
    profile = profile_of(config, turn.agent)
    threshold = profile.confidence_threshold
    forced = config.force_include if profile.force_include is None else profile.force_include
    return CardRules(
        budget=_budget(config, profile, turn),
        threshold=config.confidence_threshold if threshold is None else threshold,
        force_include=frozenset(forced),
        exclude=frozenset([*config.exclude, *(profile.exclude or ())]),
        only=None if profile.only is None else frozenset(profile.only),
    )


def profile_of(config: CardsConfig, agent: str) -> CardProfileConfig:
    return {**BUILT_IN, **config.profiles}[config.agents.get(agent, config.profile)]


def _budget(config: CardsConfig, profile: CardProfileConfig, turn: Turn) -> int:
    """The base, more for a long conversation, never more than the turn may cost."""
    base = config.max_tokens if profile.max_tokens is None else profile.max_tokens
    further = max(0, len(turn.messages) - config.messages)
    grown = min(base + config.tokens_per_message * further, max(base, config.most_tokens))
    return grown if turn.budget is None else max(0, min(grown, turn.budget))


def local_time(config: CardsConfig, turn: Turn, clock: Callable[[], datetime]) -> datetime:
    """What the clock shows where the agent is: by the turn, its profile, [cards], or else the machine."""
    if turn.at is not None:
        return turn.at
    return clock().astimezone(_zone(profile_of(config, turn.agent).timezone or config.timezone))


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        remedy = "name one such as Europe/Berlin; a machine without zones needs: pip install tzdata"
        raise ConfigError("[cards]", f"there is no timezone {name!r}", remedy) from None


def check_names(config: CardsConfig, scorers: Mapping[str, object]) -> None:
    """Refuse a scorer, a profile or a timezone that is named and does not exist."""
    for zone in (config.timezone, *(profile.timezone for profile in config.profiles.values())):
        _zone(zone or "")
    for scorer in (config.scorer, *config.experiment):
        _check("scorer", scorer, scorers)
    for profile in (config.profile, *config.agents.values()):
        _check("profile", profile, {**BUILT_IN, **config.profiles})


def _check(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        close = nearest(name, known)
        remedy = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(known))}"
        raise ConfigError("[cards]", f"there is no {what} {name!r}", remedy)


def variant_of(config: CardsConfig, turn: Turn, session: str) -> str:
    """The scorer this session gets: always the same one, and over many sessions each its share."""
    if not config.experiment:
        return config.scorer
    key = session or f"{turn.agent}\n{turn.text}"
    at = int.from_bytes(sha256(key.encode()).digest()[:8]) / 2**64 * sum(config.experiment.values())
    for name, share in config.experiment.items():
        at -= share
        if at < 0:
            return name
    return name


def recent(turn: Turn, count: int) -> Turn:
    return replace(turn, messages=turn.messages[-count:])


def why_held_back(config: CardsConfig, turn: Turn, is_stopped: bool) -> str:
    """Why nothing may be injected although cards were selected; empty when it may."""
    if config.mode == "monitor":
        return "mode is monitor: selections are only recorded"
    if config.mode == "sessions" and turn.session_type not in config.sessions:
        return f"mode is sessions: {turn.session_type} is not among them"
    if is_stopped:
        share, hours = config.auto_disable_threshold, config.auto_disable_window_hours
        rate = f"more than {share:.0%} of the turns of {hours} h got a card"
        return f"kill switch: {rate}; see: prowess cards resume"
    return ""
