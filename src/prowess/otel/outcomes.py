"""Outcomes from the spans of other libraries: a framework that is traced teaches without any glue.

Above: a program that adds `OutcomeProcessor` to its tracer provider. Below: the engine. Each span of a tool
that ends becomes an outcome of the capability of that name, tied to the latest offer that showed it. A call
that went through prowess was recorded there, and is passed over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import StatusCode

from prowess.calling.finding import named
from prowess.engine.engine import Engine
from prowess.errors import ConfigError
from prowess.otel import conventions as names
from prowess.otel.offers import ShownTools, chosen_from
from prowess.otel.open_spans import OpenSpans, ids
from prowess.otel.recorder import Recorder
from prowess.otel.tracer import SpanTracer
from prowess.types import DEFAULT_AGENT, Outcome

MAX_ERROR_LENGTH = 200

CapabilityOf = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class _ToolUse:
    """The use of a tool, as its span tells of it."""

    tool: str
    offers: tuple[ShownTools, ...]
    agent: str
    ok: bool
    error: str
    milliseconds: float
    key: str


class OutcomeProcessor(SpanProcessor):
    """Records an outcome for each span of a tool that ends. Add it to a tracer provider of OpenTelemetry.

    engine: where outcomes are recorded; it must have been opened with a tracer, so that calls which went
        through it are not recorded twice.
    agent: whose they are, where neither the offer nor the span names an agent that is known here.
    capability: the id of the capability that a tool's name means, or None for a tool to pass over; without
        it, the capability of that id or name in the catalogue.
    """

    def __init__(
        self, engine: Engine, *, agent: str = DEFAULT_AGENT, capability: CapabilityOf | None = None
    ) -> None:
        tracer = engine.internals.options.tracer
        if not isinstance(tracer, SpanTracer):
            remedy = "open it with prowess.open(tracer=prowess.otel.SpanTracer())"
            raise ConfigError("otel", "without a tracer, calls through the engine would count twice", remedy)
        self._engine = engine
        self._agent = agent
        self._capability = capability or self._by_name
        self._spans = OpenSpans(tracer.offers)
        self._recorder = Recorder("prowess-outcomes")

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember the offers that are current where the span begins.

        span: the span.
        parent_context: where it begins.
        """
        self._spans.begin(span)

    def on_end(self, span: ReadableSpan) -> None:
        """Turn the span of a tool into an outcome; a thread of its own writes it, so nobody waits.

        span: the span.
        """
        attributes = span.attributes or {}
        offers, is_recorded = self._spans.end(span)
        tool = names.tool_of(span.name, attributes)
        if not tool or is_recorded:
            return
        use = _ToolUse(
            tool=tool,
            offers=offers,
            agent=str(attributes.get(names.AGENT_NAME, "")),
            ok=span.status.status_code is not StatusCode.ERROR and names.ERROR_TYPE not in attributes,
            error=_error(span),
            milliseconds=((span.end_time or 0) - (span.start_time or 0)) / 1e6,
            key=_key(span),
        )
        self._recorder.record(f"the outcome of {tool}", partial(self._record, use))

    def shutdown(self) -> None:
        """Write what still waits, and end."""
        self._recorder.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what waits now; returns whether all of it was written in time.

        timeout_millis: the longest to wait for it, in milliseconds.
        """
        return self._recorder.flush(timeout_millis)

    def _record(self, use: _ToolUse) -> None:
        if id := self._capability(use.tool):
            self._engine.record(self._outcome(id, use))

    def _outcome(self, id: str, use: _ToolUse) -> Outcome:
        shown = chosen_from(use.offers, id)
        return Outcome(
            offer=shown.offer if shown else "",
            capability=id,
            ok=use.ok,
            agent=shown.agent if shown else self._known(use.agent),
            detail=use.error,
            milliseconds=use.milliseconds,
            key=use.key,
        )

    def _known(self, agent: str) -> str:
        bound = {each.name for each in self._engine.agents.list()}
        return agent if agent in bound else self._agent

    def _by_name(self, tool: str) -> str | None:
        found = named(tool, self._engine.catalogue.view())
        return found.id if found else None


def _error(span: ReadableSpan) -> str:
    """The kind of error alone: a message may hold what the tool was called with."""
    if kind := (span.attributes or {}).get(names.ERROR_TYPE):
        return str(kind)[:MAX_ERROR_LENGTH]
    kinds = (event.attributes.get(names.EXCEPTION_TYPE) for event in span.events if event.attributes)
    return str(next(filter(None, kinds), ""))[:MAX_ERROR_LENGTH]


def _key(span: ReadableSpan) -> str:
    """Names the call, so that it counts once where two libraries trace it."""
    trace, id = ids(span)
    return f"{trace:032x}/{names.call_of(span.attributes or {}) or format(id, '016x')}"
