"""Our own spans: one for each offer, search and call, in the names of OpenTelemetry's GenAI conventions."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import trace
from opentelemetry.trace import StatusCode, TracerProvider

from prowess.otel import conventions as names
from prowess.otel.offers import CurrentOffers, shown_tools
from prowess.tracing import Fact, Span, Step
from prowess.types import Offer

NAMED = {"prompt": names.PROMPT_NAME, "resource": names.RESOURCE}
"""The attribute that holds the name of what was used; else it is a tool."""
FACTS = {
    "offer": names.OFFER_ID,
    "hits": names.HITS,
    "tokens": names.TOKENS,
    "revision": names.REVISION,
    "outcome": names.OUTCOME,
    "call": names.CALL_ID,
}
NO_ERRORS = ("ok", "asked")
"""Outcomes of a call after which nothing has failed."""
MAX_NAME_LENGTH = 200


class SpanTracer:
    """Opens spans, for `prowess.open(tracer=...)`; where no SDK is configured they cost next to nothing.

    provider: whose spans they are; without one, the program's own.
    joins_calls: describe a call on the span around it, which somebody else opened, instead of on a new one.
    """

    def __init__(self, provider: TracerProvider | None = None, *, joins_calls: bool = False) -> None:
        self._tracer = trace.get_tracer(names.SCOPE, tracer_provider=provider)
        self._joins_calls = joins_calls
        self.offers = CurrentOffers()
        """What was offered in this thread or task, for the outcomes of tools that are called in it."""

    def offered(self, offer: Offer) -> AbstractContextManager[None]:
        """Tools that are called within this block were chosen from this offer, wherever it was made.

        offer: what `engine.offer` returned.
        """
        return self.offers.having(offer)

    @contextmanager
    def span(self, step: Step, agent: str, name: str = "") -> Iterator[Span]:
        """A span that lasts as long as the block.

        step: what is done.
        agent: for whom.
        name: what is called.
        """
        if step == "call" and self._joins_calls:
            yield _CallSpan(trace.get_current_span(), agent)
        elif step == "call":
            with self._started(names.EXECUTE_TOOL, names.TOOL_NAME, name[:MAX_NAME_LENGTH], agent) as span:
                yield _CallSpan(span, agent)
        else:
            with self._started(names.RETRIEVAL, names.DATA_SOURCE, names.SCOPE, agent) as span:
                yield _OfferSpan(span, agent, self.offers)

    @contextmanager
    def _started(self, operation: str, key: str, subject: str, agent: str) -> Iterator[trace.Span]:
        attributes = {names.OPERATION: operation, names.AGENT_NAME: agent, key: subject}
        with self._tracer.start_as_current_span(f"{operation} {subject}", attributes=attributes) as span:
            yield span


class _OfferSpan:
    def __init__(self, span: trace.Span, agent: str, offers: CurrentOffers) -> None:
        self._span = span
        self._agent = agent
        self._offers = offers

    def add(self, **facts: Fact) -> None:
        self._span.set_attributes({FACTS[name]: value for name, value in facts.items()})
        if "offer" in facts:
            self._offers.add(shown_tools(facts, self._agent))


class _CallSpan:
    def __init__(self, span: trace.Span, agent: str) -> None:
        self._span = span
        self._agent = agent

    def add(self, **facts: Fact) -> None:
        if not self._span.is_recording():
            return
        way, outcome = str(facts.pop("way", "")), str(facts.get("outcome", ""))
        capability = str(facts.pop("capability"))[:MAX_NAME_LENGTH]
        self._span.set_attributes(
            {FACTS[name]: value for name, value in facts.items() if value != ""}
            | {NAMED.get(way, names.TOOL_NAME): capability, names.AGENT_NAME: self._agent}
        )
        if outcome != "ok":
            self._span.set_attribute(names.ERROR_TYPE, outcome)
        if outcome not in NO_ERRORS:
            self._span.set_status(StatusCode.ERROR)
