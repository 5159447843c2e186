"""Spans of tools, as any library writes them, become outcomes."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider

import prowess
from prowess import ConfigError, Engine
from prowess.otel import OutcomeProcessor, SpanTracer
from tests.otel.tracing import OpenTraced, outcomes


def use(provider: TracerProvider, title: str = "tool", **attributes: Any) -> None:
    """A framework uses a tool, and says so in a span."""
    tracer = provider.get_tracer("framework")
    tracer.start_span(title, attributes=attributes).end()


def genai(name: str, **more: Any) -> dict[str, Any]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


@pytest.mark.parametrize(
    ("title", "attributes"),
    [
        ("execute_tool find_flights", {"gen_ai.operation.name": "execute_tool"}),
        ("anything", genai("find_flights")),
        ("FindFlights", {"openinference.span.kind": "TOOL", "tool.name": "find_flights"}),
        ("find_flights", {"langfuse.observation.type": "tool"}),
        ("find_flights", {"mlflow.spanType": '"TOOL"'}),
    ],
)
def test_each_way_of_writing_down_the_use_of_a_tool_is_understood(
    traced: OpenTraced, title: str, attributes: dict[str, Any]
) -> None:
    with traced() as (engine, provider, processor):
        use(provider, title, **attributes)
        processor.force_flush()
        assert [one["capability"] for one in outcomes(engine)] == ["tool:find_flights"]


def test_spans_of_agents_models_and_unknown_tools_are_no_outcomes(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        use(provider, "invoke_agent ada", **{"gen_ai.operation.name": "invoke_agent"})
        use(provider, "chat claude", **{"openinference.span.kind": "LLM"})
        use(provider, "execute_tool juggle", **genai("juggle"))
        processor.force_flush()
        assert outcomes(engine) == []


def test_a_call_that_went_through_prowess_counts_once_whoever_traces_it(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        tracer = provider.get_tracer("framework")
        with tracer.start_as_current_span("execute_tool find_flights", attributes=genai("find_flights")):
            engine.call("find_flights", {"origin": "Bergen", "destination": "Oslo"})
        with tracer.start_as_current_span("execute_tool planner", attributes=genai("planner")):
            use(provider, **genai("find_flights"))  # of the framework's own, beside one of ours
            engine.call("find_flights", {"origin": "Oslo", "destination": "Bergen"})
        processor.force_flush()
        assert len(outcomes(engine)) == 3


def test_a_call_that_two_libraries_trace_teaches_once(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        offer = engine.offer("find flights to Oslo")
        tracer = provider.get_tracer("framework")
        called = genai("find_flights", **{"gen_ai.tool.call.id": "call_1"})
        with tracer.start_as_current_span("execute_tool find_flights", attributes=called):
            use(provider, **called)
        processor.force_flush()
        assert {one["offer"] for one in outcomes(engine)} == {offer.id}
        assert sum(lesson.successes for lesson in engine.learning.learn().lessons) == 1


def test_a_call_without_an_id_of_its_own_is_named_by_its_span(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        for _ in range(2):
            use(provider, **genai("find_flights", **{"gen_ai.tool.call.id": "<not specified>"}))
        processor.force_flush()
        assert len({one["key"] for one in outcomes(engine)}) == 2


def test_an_outcome_belongs_to_the_latest_offer_that_showed_its_tool(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        flights = engine.offer("find flights to Oslo", tier1_top_k=1)
        weather = engine.offer("tell the weather of a city", tier1_top_k=1)
        use(provider, **genai("find_flights"))
        use(provider, **genai("weather_forecast"))
        processor.force_flush()
        assert [one["offer"] for one in outcomes(engine)] == [flights.id, weather.id]


def in_a_thread(work: Callable[[], object], context: Context | None = None) -> None:
    """Work in a thread that knows nothing of what was offered here, in a trace or not."""

    def run() -> None:
        token = otel_context.attach(context or Context())
        work()
        otel_context.detach(token)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_an_outcome_in_another_thread_is_tied_to_the_offer_by_its_trace(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        with provider.get_tracer("framework").start_as_current_span("a request"):
            offer = engine.offer("find flights to Oslo")
            in_a_thread(lambda: use(provider, **genai("find_flights")), otel_context.get_current())
        in_a_thread(lambda: use(provider, **genai("find_flights")))
        processor.force_flush()
        assert [one["offer"] for one in outcomes(engine)] == [offer.id, ""]


def test_a_program_says_which_offer_a_thread_works_on(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        offer = engine.offer("find flights to Oslo")
        tracer = engine.internals.options.tracer
        assert isinstance(tracer, SpanTracer)

        def work() -> None:
            with tracer.offered(offer):
                use(provider, **genai("find_flights"))
            use(provider, **genai("find_flights"))

        in_a_thread(work)
        processor.force_flush()
        assert [one["offer"] for one in outcomes(engine)] == [offer.id, ""]


def test_an_outcome_is_of_the_agent_that_was_offered_the_tool(traced: OpenTraced) -> None:
    with traced() as (engine, provider, processor):
        use(provider, **genai("find_flights", **{"gen_ai.agent.name": "ada"}))
        use(provider, **genai("find_flights", **{"gen_ai.agent.name": "a stranger"}))
        engine.offer(prowess.Turn(agent="ada", messages=(prowess.Message("user", "find flights to Oslo"),)))
        use(provider, **genai("find_flights", **{"gen_ai.agent.name": "a stranger"}))
        processor.force_flush()
        assert len(outcomes(engine, "ada")) == 2
        assert len(outcomes(engine)) == 1


def test_a_program_says_which_capability_a_tool_is(traced: OpenTraced) -> None:
    names = {"flights-v2": "tool:find_flights"}
    with traced(capability=names.get, agent="ada") as (engine, provider, processor):
        use(provider, **genai("flights-v2"))
        use(provider, **genai("find_flights"))
        processor.force_flush()
        assert [one["capability"] for one in outcomes(engine, "ada")] == ["tool:find_flights"]


def test_a_store_that_is_gone_does_not_reach_the_program_that_is_traced(
    traced: OpenTraced, caplog: pytest.LogCaptureFixture
) -> None:
    with traced() as (engine, provider, processor):
        engine.close()
        use(provider, **genai("find_flights"))
        processor.force_flush()
        processor.shutdown()
        use(provider, **genai("find_flights"))
        assert processor.force_flush()
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "the outcome of find_flights was not recorded",
        "the outcome of find_flights came after the shutdown and was not recorded",
    ]


def test_an_engine_without_a_tracer_is_refused_since_its_calls_would_count_twice(
    open_engine: Callable[[], Engine],
) -> None:
    with pytest.raises(ConfigError, match="SpanTracer"):
        OutcomeProcessor(open_engine())
