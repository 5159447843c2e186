"""What a span says of a call, where OpenTelemetry is configured; nothing otherwise.

The SDK opens a span for each message and names it by the protocol; this adds which capability was meant.
"""

from collections.abc import Mapping
from typing import Any

from opentelemetry.trace import get_current_span


def note_call(data: Mapping[str, Any], agent: str) -> None:
    span = get_current_span()
    if not span.is_recording():
        return
    span.set_attributes(
        {
            "gen_ai.tool.name": str(data["capability"]),
            "gen_ai.agent.name": agent,
            "prowess.outcome": str(data["outcome"]),
            "prowess.policy.revision": str(data["revision"]),
        }
    )
    if data["outcome"] != "ok":
        span.set_attribute("error.type", str(data["outcome"]))
