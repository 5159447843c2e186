"""The spans that have begun and not ended: what each was chosen from, and whether prowess saw to it."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import INVALID_SPAN_CONTEXT

from prowess.otel import conventions as names
from prowess.otel.offers import CurrentOffers, ShownTools, with_latest

MAX_TRACES = 10_000


@dataclass(slots=True)
class _OpenSpan:
    span: ReadableSpan
    offers: tuple[ShownTools, ...]
    is_recorded: bool = False
    """Whether the call that it stands for went through prowess, which recorded it."""


class OpenSpans:
    def __init__(self, current: CurrentOffers) -> None:
        self._current = current
        self._lock = Lock()
        self._open: dict[int, _OpenSpan] = {}
        self._offers: OrderedDict[int, tuple[ShownTools, ...]] = OrderedDict()
        """Trace -> its offers, for tools that are called where the context of the offer is not known."""

    def begin(self, span: ReadableSpan) -> None:
        """Remember a span and the offers that are current where it begins."""
        with self._lock:
            self._open[ids(span)[1]] = _OpenSpan(span, self._current.get())

    def end(self, span: ReadableSpan) -> tuple[tuple[ShownTools, ...], bool]:
        """The offers of a span, and whether its call is recorded already."""
        (trace, id), attributes = ids(span), span.attributes or {}
        with self._lock:
            ended = self._open.pop(id, None) or _OpenSpan(span, ())
            if names.OUTCOME in attributes:
                self._pass_on(span)
                return (), True
            if names.HITS in attributes:
                self._remember(trace, attributes)
            return ended.offers or self._offers.get(trace, ()), ended.is_recorded

    def _pass_on(self, ours: ReadableSpan) -> None:
        """The nearest tool around a call of ours is that call as a framework sees it."""
        above = ours.parent
        while above is not None and (around := self._open.get(above.span_id)):
            if names.tool_of(around.span.name, around.span.attributes or {}):
                around.is_recorded = True
                return
            above = around.span.parent

    def _remember(self, trace: int, attributes: names.Attributes) -> None:
        hits = frozenset(map(str, attributes[names.HITS]))
        shown = ShownTools(str(attributes.get(names.OFFER_ID)), str(attributes.get(names.AGENT_NAME)), hits)
        self._offers[trace] = with_latest(self._offers.get(trace, ()), shown)
        while len(self._offers) > MAX_TRACES:
            self._offers.popitem(last=False)


def ids(span: ReadableSpan) -> tuple[int, int]:
    """Of its trace, and of the span itself."""
    context = span.get_span_context() or INVALID_SPAN_CONTEXT
    return context.trace_id, context.span_id
