"""Scores of evaluation tools, as they write them to OpenTelemetry, become scores of the axes of evolution.

Above: a program that adds `ScoreProcessor` to its tracer provider, and to its logger provider. Below: the
engine. An evaluation is an event or a span with the name of what was measured and its value; only what is
mapped counts.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from prowess.engine.engine import Engine
from prowess.errors import ConfigError, nearest
from prowess.evolution.scores import AXES
from prowess.otel import conventions as names
from prowess.otel.recorder import Recorder
from prowess.types import DEFAULT_AGENT

logger = logging.getLogger("prowess")

LABELS = {"pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0}
"""What a label says, where an evaluation has no value."""


@dataclass(frozen=True, slots=True)
class AxisScale:
    """The axis that a measure is about, and the values that stand for 0 and for 1 on it.

    axis: "cognitive", "behavioral", "safety", "autonomy" or "meta_learning".
    worst: the value that is as bad as can be; above `best` where less is better.
    best: the value that is as good as can be.
    """

    axis: str
    worst: float = 0.0
    best: float = 1.0

    def __post_init__(self) -> None:
        if self.axis not in AXES:
            close = nearest(self.axis, AXES)
            raise ConfigError(
                "otel", f"no axis is called {self.axis!r}", f"did you mean {close or AXES[0]!r}?"
            )
        if self.worst == self.best:
            raise ConfigError("otel", f"the scale of {self.axis} has one value", "give worst and best")

    def fraction(self, value: float) -> float | None:
        """Where a value lies on the scale, from 0 to 1; nothing where it lies beside it."""
        found = (value - self.worst) / (self.best - self.worst)
        return found if 0 <= found <= 1 else None


class ScoreProcessor(SpanProcessor):
    """Contributes the scores of evaluation tools. Add it to a tracer provider, or to a logger provider.

    engine: whose agents are measured.
    axes: the name of a measure -> its axis, or a `AxisScale` where its values do not go from 0 to 1, such as
        {"Relevance": AxisScale("cognitive", 1, 5), "task_success": "behavioral"}; others are passed over.
    agent: who is measured, where an evaluation names no agent that is known here.
    """

    def __init__(
        self, engine: Engine, axes: Mapping[str, str | AxisScale], *, agent: str = DEFAULT_AGENT
    ) -> None:
        self._engine = engine
        self._scales = {
            name: AxisScale(said) if isinstance(said, str) else said for name, said in axes.items()
        }
        self._agent = agent
        self._recorder = Recorder("prowess-scores")

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing is known of a span that begins.

        span: the span.
        parent_context: where it begins.
        """

    def on_end(self, span: ReadableSpan) -> None:
        """Take the evaluations that a span has as events, or is itself; a thread of its own writes them.

        span: the span.
        """
        around = span.attributes or {}
        for event in span.events:
            if event.name == names.EVALUATION_RESULT:
                self._take(event.attributes or {}, around)
        self._take(around, around)

    def on_emit(self, log_record: Any) -> None:
        """Take an evaluation that is written as an event of its own, among the logs.

        log_record: what a logger provider hands on.
        """
        record = getattr(log_record, "log_record", log_record)
        self._take(record.attributes or {}, record.attributes or {})

    def shutdown(self) -> None:
        """Write what still waits, and end."""
        self._recorder.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what waits now; returns whether all of it was written in time.

        timeout_millis: the longest to wait for it, in milliseconds.
        """
        return self._recorder.flush(timeout_millis)

    def _take(self, said: names.Attributes, around: names.Attributes) -> None:
        measure = names.first_of(said, names.EVALUATION_NAMES)
        scale = self._scales.get(str(measure))
        if scale is None:
            return
        value = _value(said)
        fraction = scale.fraction(value) if value is not None else None
        if fraction is None:
            logger.warning("%s has no score from %g to %g: %s", measure, scale.worst, scale.best, value)
            return
        agent = str(said.get(names.AGENT_NAME) or around.get(names.AGENT_NAME, ""))
        contribute = partial(self._contribute, agent, scale.axis, fraction, str(measure))
        self._recorder.record(f"the score of {measure}", contribute)

    def _contribute(self, agent: str, axis: str, value: float, measure: str) -> None:
        known = {each.name for each in self._engine.agents.list()}
        self._engine.evolution.contribute(agent if agent in known else self._agent, axis, value, measure)


def _value(said: names.Attributes) -> float | None:
    value = names.first_of(said, names.EVALUATION_VALUES)
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    label = str(names.first_of(said, names.EVALUATION_LABELS)).lower()
    return LABELS.get(label) if value is None else None
