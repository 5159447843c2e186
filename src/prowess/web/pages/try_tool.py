"""The page `try`: a tool with a form made from its schema, called as an agent, as policy allows."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.operations.agents import list_agents
from prowess.operations.backend import Local
from prowess.operations.calls import CallAsked, make
from prowess.operations.catalogue import show_capability
from prowess.operations.operation import NO_PARAMS
from prowess.operations.values import CapabilityWhole
from prowess.policy.attributes import effects_of
from prowess.types import DEFAULT_AGENT, Json
from prowess.web import page
from prowess.web.pages.form import Fields, NextPage, backend, form
from prowess.web.redact import plain

ARGUMENT = "argument."
"""Before the name of each argument, so that none is taken for a field of the form itself."""
ENDINGS = {
    "ok": ("It worked", "good"),
    "failed": ("It failed", "bad"),
    "refused": ("It was refused", "warn"),
    "misfit": ("The arguments do not fit", "warn"),
    "denied": ("Policy does not allow it", "warn"),
    "asked": ("A person is asked first", "warn"),
    "unavailable": ("It cannot be used now", "warn"),
}
MAX_RESULT_CHARACTERS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One argument, and what a person writes it into."""

    name: str
    label: str
    control: str
    """"choice", "text", "number" or "json"."""
    choices: tuple[str, ...]
    required: bool
    hint: str
    value: str


def shown(request: Request) -> Response:
    said = request.query_params
    local, id = backend(request), said.get("id", "")
    agent = said.get("agent", DEFAULT_AGENT)
    return page.render(request, "try.html", 200, title="Try a tool", **_values(local, id, agent, {}))


def call(local: Local, fields: Fields) -> NextPage:
    id, agent = fields.get("id", ""), fields.get("agent", DEFAULT_AGENT)
    given = {name[len(ARGUMENT) :]: text for name, text in fields.items() if name.startswith(ARGUMENT)}
    texts = {name: text for name, text in given.items() if text != ""}
    values = _values(local, id, agent, given)
    answer = local.call(make, CallAsked(name=id, texts=texts), agent=agent)
    title, tone = ENDINGS.get(answer.ending, (answer.ending, "warn"))
    result = {"title": title, "tone": tone, "texts": list(_texts(answer.content)), "answer": answer}
    return NextPage("try.html", "Try a tool", {**values, "result": result})


def _values(local: Local, id: str, agent: str, given: Mapping[str, str]) -> dict[str, object]:
    found = local.call(show_capability, NO_PARAMS, id=id)
    agents = sorted({DEFAULT_AGENT, *(one.name for one in local.call(list_agents, NO_PARAMS))})
    return {
        "under": "/servers",
        "capability": found,
        "effects": effects_of(local.engine.catalogue.get(id)),
        "fields": list(fields_of(found, given)),
        "agents": agents,
        "agent": agent,
        "decision": local.engine.decide(agent, id),
        "result": None,
        "prefix": ARGUMENT,
    }


def fields_of(capability: CapabilityWhole, given: Mapping[str, str]) -> Iterator[FormField]:
    """A field for each property of the schema; what is required comes first."""
    schema = capability.detail.input_schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    needed = required if isinstance(required, list) else []
    for name in sorted(known, key=lambda one: one not in needed):
        about = known[name] if isinstance(known[name], Mapping) else {}
        control, choices = _control(about)
        default = about.get("default")
        hint = str(about.get("description", ""))
        if default is not None:
            hint = f"{hint} Without it: {json.dumps(default, ensure_ascii=False)}.".strip()
        yield FormField(
            name=name, label=plain(name), control=control, choices=choices, required=name in needed,
            hint=plain(hint), value=given.get(name, ""),
        )  # fmt: skip


def _control(about: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    choices, kind = about.get("enum"), about.get("type")
    if isinstance(choices, list) and all(isinstance(one, str) for one in choices):
        return "choice", tuple(choices)
    if kind == "boolean":
        return "choice", ("true", "false")
    if kind in ("integer", "number"):
        return "number", ()
    return ("text" if kind == "string" else "json"), ()


def _texts(content: tuple[Mapping[str, Json], ...]) -> Iterator[str]:
    """What came back, as text; of anything else, its kind and size."""
    for block in content:
        text = block.get("text")
        if isinstance(text, str):
            yield plain(text[:MAX_RESULT_CHARACTERS])
        else:
            yield f"[{plain(str(block.get('type', 'content')))}, {len(str(block))} characters]"


ROUTES = (Route("/try", shown, methods=["GET"]), form("/try", call, make))
