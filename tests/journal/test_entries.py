"""What the journal can say: typed when it is written, typed when it is read, readable whoever wrote it."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from prowess.journal import Journal, Raw, plain, read, typed
from prowess.journal.entries import Decided, Offered, OfferedHit, OutcomeRecorded
from prowess.journal.entry import encoded
from prowess.journal.reading import TYPES
from prowess.store.database import Database
from tests.support.clock import SteppingClock

OLD: Mapping[str, Mapping[str, Any]] = {
    "offer": {
        "offer": "abc",
        "request": "send mail",
        "session_type": "main",
        "hits": [{"id": "tool:mail", "score": 0.9, "need": ""}],
        "tokens": 12,
        "counter": "o200k",
        "left_out": {"denied": 2},
        "catalogue_version": 3,
        "policy_revision": "r",
        "mode": "discovery",
    },
    "decision": {"capability": "tool:mail", "verdict": "deny", "reason": "the agent is stopped: x"},
    "agent.retired": {"with": "ada"},
    "skill.promoted": {
        "skill": "s",
        "method": "tool:mail",
        "from": "proposed",
        "reason": "",
        "by": "a person",
    },
    "skill.gated": {
        "skill": "s",
        "by": "p",
        "regression": {"clears": True, "digest": "d", "verdict": "passed"},
    },
    "EvolutionGeneration": {"agent": "ada", "generation": 2, "trigger": "CapabilityGain"},
    "EvolutionRollback": {
        "agent": "ada",
        "from_generation": 2,
        "to_generation": 1,
        "generation": 3,
        "reason": "",
        "switched_off": ["x"],
        "switched_on": [],
    },
    "search": {"query": "mail", "hits": ["tool:mail"]},
}
"""Entries as an earlier version wrote them."""


@pytest.fixture
def journal(database: Database, clock: SteppingClock) -> Journal:
    return Journal(database, clock)


@pytest.mark.parametrize("type", OLD)
def test_what_an_earlier_version_wrote_is_read_as_its_type(journal: Journal, type: str) -> None:
    written = journal.record(Raw(type, OLD[type]), "ada")
    entry = read(written)
    assert isinstance(entry, TYPES[type])
    assert OLD[type].items() <= plain(entry).items()
    assert journal.verify()


def test_a_field_that_an_entry_does_not_have_cannot_be_written() -> None:
    with pytest.raises(TypeError):
        Decided(capability="tool:a", verdict="deny", raison="misspelt")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no field raison"):
        typed("decision", {"capability": "tool:a", "verdict": "deny", "raison": "misspelt"})


def test_what_nobody_knows_or_what_does_not_fit_is_read_as_it_stands(journal: Journal) -> None:
    for raw in (Raw("of.later", {"x": 1}), Raw("decision", {"verdict": 7})):
        assert read(journal.record(raw)) == raw


def test_an_entry_has_one_text_whatever_the_order_of_its_fields(journal: Journal) -> None:
    hit = OfferedHit("tool:a", 0.5, "")
    entry = Offered(offer="o", request="r", hits=[hit], left_out={"b": 1, "a": 2})
    assert encoded(entry) == msgspec.json.encode(plain(entry), order="sorted").decode()
    assert read(journal.record(entry)) == entry


def test_every_type_has_one_name_and_can_be_told_apart() -> None:
    assert len({each.type for each in TYPES.values()}) == len(TYPES) > 40
    assert OutcomeRecorded.type == "outcome" and all(each.version >= 1 for each in TYPES.values())
