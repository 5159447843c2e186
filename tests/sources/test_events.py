"""Event handlers as capabilities, with what they declare."""

import sys
from types import ModuleType
from typing import Any, TypedDict

import pytest

from prowess.sources.python.events import EventMark, Events, declarations, event_handler
from prowess.types import Capability, SourceReading


class Message(TypedDict):
    channel: str
    text: str


@event_handler(
    "message:publish",
    capability="agent_messaging",
    description="Publish message to channel",
    requires_auth=True,
    resource_intensive=True,
)
async def publish(data: Message) -> None:
    pass


@event_handler("state:get", capability="state_read")
@event_handler("state:list")
def state(data):  # type: ignore[no-untyped-def]
    """Read shared state."""


def capabilities(reading: SourceReading) -> dict[str, Capability]:
    return {d.capability.id: d.capability for entry in reading.entries for d in entry.drafts or ()}


def test_a_handler_is_an_event_capability_with_what_it_declares() -> None:
    reading = Events(name="e", handlers=(publish,)).read({})
    capability = capabilities(reading)["event:message:publish"]
    assert (capability.kind, capability.name) == ("event", "message:publish")
    assert capability.description == "Publish message to channel"
    assert capability.metadata == {
        "capability": "agent_messaging",
        "requires_auth": True,
        "resource_intensive": True,
    }
    assert capability.has_side_effects and capability.provider == __name__
    assert reading.problems == ()


def test_the_schema_is_that_of_the_payload_when_its_type_says_so() -> None:
    (entry,) = Events(name="e", handlers=(publish, state)).read({}).entries
    first, second, _ = entry.drafts or ()
    found: Any = first.detail.input_schema
    assert found["type"] == "object" and set(found["required"]) == {"channel", "text"}
    assert first.capability.parameters == ("channel", "text")
    assert second.detail.input_schema is None


def test_one_handler_may_serve_several_events() -> None:
    found = capabilities(Events(name="e", handlers=(state,)).read({}))
    assert list(found) == ["event:state:get", "event:state:list"]
    assert found["event:state:get"].description == "Read shared state."
    assert [mark.event for mark in declarations(state)] == ["state:get", "state:list"]


def test_what_a_handler_declares_can_be_asked_of_the_handler() -> None:
    assert declarations(publish)[0] == EventMark(
        event="message:publish",
        capability="agent_messaging",
        description="Publish message to channel",
        requires_auth=True,
        resource_intensive=True,
    )
    assert declarations(print) == ()


def test_a_handler_that_declares_nothing_and_a_bad_event_lose_nothing_else() -> None:
    @event_handler("bad\nname")
    def bad() -> None:
        pass

    reading = Events(name="e", handlers=(bad, print, publish)).read({})
    assert list(capabilities(reading)) == ["event:message:publish"]
    assert {problem.what for problem in reading.problems} == {
        "declares no event",
        "'name' holds a control character",
    }


def test_a_module_offers_its_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sample_handlers")
    monkeypatch.setitem(sys.modules, "sample_handlers", module)
    assert "declares no event" in Events(name="e", module="sample_handlers").read({}).problems[0].what
    vars(module).update(publish=publish)
    assert list(capabilities(Events(name="e", module="sample_handlers").read({}))) == [
        "event:message:publish"
    ]


def test_a_module_that_cannot_be_imported_is_down() -> None:
    reading = Events(name="e", module="no_such_module_anywhere").read({})
    assert "cannot be imported" in reading.down and reading.providers[0].down
