"""OpenTelemetry: spans of what prowess does; outcomes and scores from the spans of others.

    with prowess.open(tracer=SpanTracer(provider)) as engine:
        provider.add_span_processor(OutcomeProcessor(engine))

Needs `pip install "prowess[otel]"`. A name is loaded when it is first used, since the gateway traces without
the SDK that outcomes are taken from.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.otel.outcomes import OutcomeProcessor
    from prowess.otel.scores import AxisScale, ScoreProcessor
    from prowess.otel.tracer import SpanTracer

__all__ = ["AxisScale", "OutcomeProcessor", "ScoreProcessor", "SpanTracer"]

HOMES = {
    "OutcomeProcessor": "prowess.otel.outcomes",
    "AxisScale": "prowess.otel.scores",
    "ScoreProcessor": "prowess.otel.scores",
    "SpanTracer": "prowess.otel.tracer",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'prowess.otel' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
