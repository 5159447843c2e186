"""What a span says of a call, where OpenTelemetry is configured; nothing otherwise.

The SDK opens a span for each message, in the names that OpenTelemetry has for MCP, and one for each request
to a server behind; this adds what only the gateway knows: which capability was meant, who called, what
policy said.
"""

from collections.abc import Mapping
from typing import Any

from opentelemetry.trace import get_current_span

NAMED = {"prompt": "gen_ai.prompt.name", "resource": "prowess.resource"}
"""The attribute that holds the name of what was used; else it is a tool."""


def note_call(data: Mapping[str, Any], agent: str) -> None:
    span = get_current_span()
    if not span.is_recording():
        return
    span.set_attributes(
        {
            NAMED.get(str(data["way"]), "gen_ai.tool.name"): str(data["capability"]),
            "gen_ai.agent.name": agent,
            "prowess.outcome": str(data["outcome"]),
            "prowess.policy.revision": str(data["revision"]),
        }
    )
    if data["outcome"] != "ok":
        span.set_attribute("error.type", str(data["outcome"]))
