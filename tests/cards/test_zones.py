"""Time of day is the agent's: by the turn, its profile, [cards], or the machine."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from prowess.config import CardProfileConfig
from prowess.errors import ConfigError
from tests.support.cards import ids, maker, text_of, turn
from tests.support.clock import SteppingClock
from tests.support.stores import OpenEngine

MORNING = text_of("standup", "[cost]", triggers="time_of_day: [morning]")
ASKED = turn("How high is the cost?")


@pytest.fixture
def made(open_engine: OpenEngine) -> Any:
    return maker(open_engine)


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 2, 13, hour, minute, tzinfo=UTC)


@pytest.fixture
def in_los_angeles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_los_angeles")
def test_without_a_zone_it_is_morning_when_it_is_where_the_machine_is(
    made: Any, clock: SteppingClock
) -> None:
    cards = made(MORNING)
    clock.now = at(15, 9)
    assert ids(cards.inject([], ASKED)) == ["standup"]
    clock.now = at(7)
    (skipped,) = cards.inject([], ASKED).skipped
    assert skipped.reason == "not for this time of day (23:00)"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"timezone": "UTC"}, []),
        ({"timezone": "America/Los_Angeles"}, ["standup"]),
        (
            {
                "timezone": "America/Los_Angeles",
                "agents": {"default": "tokyo"},
                "profiles": {"tokyo": CardProfileConfig(timezone="Asia/Tokyo")},
            },
            [],
        ),
    ],
)
def test_a_zone_in_the_configuration_says_what_the_hour_is(
    made: Any, clock: SteppingClock, keys: dict[str, Any], expected: list[str]
) -> None:
    cards = made(MORNING, **keys)
    clock.now = at(15, 9)
    assert ids(cards.inject([], ASKED)) == expected


def test_the_zone_of_the_turn_wins_over_every_other(made: Any) -> None:
    cards = made(MORNING, timezone="UTC")
    there = datetime(2026, 2, 13, 7, tzinfo=timezone(timedelta(hours=-8)))
    assert ids(cards.inject([], replace(ASKED, at=there))) == ["standup"]


def test_a_zone_that_does_not_exist_is_named_with_what_to_write(made: Any) -> None:
    with pytest.raises(ConfigError, match="no timezone 'Mars/Olympus'; name one such as Europe/Berlin"):
        made(timezone="Mars/Olympus")
    with pytest.raises(ConfigError, match="no timezone 'CETT'"):
        made(profiles={"far": CardProfileConfig(timezone="CETT")})
