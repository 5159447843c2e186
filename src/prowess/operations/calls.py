"""Calls: one capability, called as an agent; and calls of which nobody knows how they ended."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from prowess.calling.finding import named
from prowess.calling.intents import Intent
from prowess.errors import NotFound
from prowess.operations.operation import Call, Name, NoParams, Note, RequestParams, Text, operation
from prowess.types import Ending, Json, JsonObject

Key = Annotated[str, msgspec.Meta(max_length=200)]


class CallAsked(RequestParams, frozen=True, kw_only=True):
    name: Name
    """The id of a capability, or its name as a tool."""
    arguments: JsonObject | None = None
    texts: Mapping[Name, Text] = {}
    """Further arguments as texts, each of which becomes what the schema asks for."""
    offer: Key = ""
    key: Key = ""
    fields: Annotated[tuple[Name, ...], msgspec.Meta(max_length=100)] = ()
    authenticated: bool = True


class CallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call; `content` is for the model."""

    id: str
    capability: str
    ending: Ending
    content: tuple[JsonObject, ...]
    structured: Json = None
    approval: str = ""
    milliseconds: float = 0.0


class Settlement(RequestParams, frozen=True, kw_only=True):
    note: Note = ""
    """What was found out."""


@operation("agent.call", "POST /agents/{agent}/call", role="operator", agents=True, slow=True, quotes=True,
           errors=(NotFound,))  # fmt: skip
def make(call: Call[CallAsked]) -> CallAnswer:
    """Call a capability: found, fitting, allowed, done and recorded.

    A refusal is an answer, too: its `ending` says why, and its content what a model is told.
    """
    q, agent = call.params, call.path["agent"]
    q = msgspec.structs.replace(q, name=_meant(call, q, agent))
    given = {**(q.arguments or {}), **_typed(call, q, agent)}
    options = {"key": q.key, "fields": q.fields, "authenticated": q.authenticated}
    result = call.engine.call(q.name, given, agent=agent, offer=q.offer, **options)  # type: ignore[arg-type]
    return CallAnswer(
        id=result.id,
        # What was meant is more than an agent may know where it is denied.
        capability=q.name if call.is_agent and result.ending == "denied" else result.capability,
        ending=result.ending,
        content=result.content,
        structured=result.structured,
        approval=result.approval,
        milliseconds=round(result.milliseconds, 3),
    )


@operation("calls.open", "GET /calls/open")
def list_open(call: Call[NoParams]) -> tuple[Intent, ...]:
    """Every call that was begun and cut off: it may have taken effect, and nobody knows."""
    return call.engine.calls.open()


@operation("calls.settle", "POST /calls/{id}/settle", role="operator", signed=True, errors=(NotFound,))
def settle(call: Call[Settlement]) -> Intent:
    """Say that a person has found out what came of a call; its key is free again."""
    return call.engine.calls.settle(call.path["id"], call.by, call.params.note)


def _meant(call: Call[CallAsked], q: CallAsked, agent: str) -> str:
    """The id behind a server's own name of a tool, where one server has it; else the name as it is."""
    visible = call.engine.catalogue.visible(agent, q.authenticated)
    if ":" in q.name or named(q.name, visible) is not None:
        return q.name
    known = [id for id in visible.capabilities if id.partition("/")[2] == q.name]
    if len(known) > 1:
        raise NotFound("tool", q.name, see=f"several servers have one; say which: {', '.join(sorted(known))}")
    return known[0] if known else q.name


def _typed(call: Call[CallAsked], q: CallAsked, agent: str) -> Mapping[str, Json]:
    if not q.texts:
        return {}
    capability = named(q.name, call.engine.catalogue.visible(agent, q.authenticated))
    schema = call.engine.catalogue.detail(capability.id).input_schema if capability else None
    properties = (schema or {}).get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    return {name: _as_type(text, known.get(name)) for name, text in q.texts.items()}


def _as_type(text: str, schema: Any) -> Json:
    """A text as it was given where a text is asked for; else what it says as JSON, where it is JSON."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "string" or (isinstance(kind, list) and "string" in kind):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
