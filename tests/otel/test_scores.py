"""Scores that evaluation tools write, in spans or among the logs, count for the axes they are mapped to."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.trace import TracerProvider

from prowess import ConfigError, Engine
from prowess.otel import AxisScale, ScoreProcessor
from tests.otel.tracing import OpenTraced

RESULT = "gen_ai.evaluation.result"
AXES: Mapping[str, str | AxisScale] = {
    "Relevance": AxisScale("cognitive", 1, 5),
    "task_success": "behavioral",
    "Toxicity": AxisScale("safety", 1, 0),
}


def result(name: str, **said: Any) -> dict[str, Any]:
    return {"gen_ai.evaluation.name": name} | {f"gen_ai.evaluation.score.{key}": v for key, v in said.items()}


def judged(provider: TracerProvider, *results: dict[str, Any], **around: Any) -> None:
    """An evaluation tool judges an answer, and says so on its span."""
    with provider.get_tracer("judge").start_as_current_span("evaluate", attributes=around) as span:
        for one in results:
            span.add_event(RESULT, one)


def contributed(engine: Engine, agent: str = "default") -> list[tuple[str, float, str]]:
    entries = engine.journal.latest(agent=agent, type="evolution.score")
    return [(e.data["axis"], e.data["value"], e.data["by"]) for e in entries]


def test_each_measure_counts_for_its_axis_alone_and_on_its_own_scale(traced: OpenTraced) -> None:
    with traced() as (engine, provider, _):
        processor = ScoreProcessor(engine, AXES)
        provider.add_span_processor(processor)
        judged(provider, result("Relevance", value=4.0), result("Fluency", value=1.0))
        judged(provider, result("Toxicity", value=0.25), result("task_success", label="pass"))
        processor.force_flush()
        assert contributed(engine) == [
            ("cognitive", 0.75, "Relevance"),
            ("safety", 0.75, "Toxicity"),
            ("behavioral", 1.0, "task_success"),
        ]
        engine.evolution.evaluate("default")
        found = engine.evolution.status("default").scores
        assert found and (found.cognitive, found.safety, found.behavioral) == (0.75, 0.75, 1.0)


def test_an_evaluation_that_is_a_span_or_a_log_record_of_its_own_is_understood(traced: OpenTraced) -> None:
    with traced() as (engine, provider, _):
        processor = ScoreProcessor(engine, {"task_success": "behavioral"})
        provider.add_span_processor(processor)
        openinference: dict[str, Any] = {"evaluation.name": "task_success", "evaluation.score": 0.5}
        provider.get_tracer("judge").start_span("eval", attributes=openinference).end()
        logs = LoggerProvider()
        logs.add_log_record_processor(processor)  # type: ignore[arg-type]
        logs.get_logger("judge").emit(
            LogRecord(event_name=RESULT, attributes=result("task_success", value=1))
        )
        processor.force_flush()
        assert contributed(engine) == [
            ("behavioral", 0.5, "task_success"), ("behavioral", 1.0, "task_success"),
        ]  # fmt: skip


def test_a_score_is_of_the_agent_that_the_span_names(traced: OpenTraced) -> None:
    with traced() as (engine, provider, _):
        processor = ScoreProcessor(engine, AXES)
        provider.add_span_processor(processor)
        judged(provider, result("task_success", value=1), **{"gen_ai.agent.name": "ada"})
        judged(provider, result("task_success", value=0), **{"gen_ai.agent.name": "a stranger"})
        processor.force_flush()
        assert contributed(engine, "ada") == [("behavioral", 1.0, "task_success")]
        assert contributed(engine) == [("behavioral", 0.0, "task_success")]


@pytest.mark.parametrize("said", [{"value": 9.0}, {"value": "high"}, {"label": "meh"}, {}])
def test_a_score_beside_its_scale_is_told_to_the_log_and_counts_for_nothing(
    traced: OpenTraced, said: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with traced() as (engine, provider, _), caplog.at_level(logging.WARNING, "prowess"):
        processor = ScoreProcessor(engine, AXES)
        provider.add_span_processor(processor)
        judged(provider, result("Relevance", **said))
        processor.force_flush()
        assert contributed(engine) == []
    assert "Relevance has no score from 1 to 5" in caplog.text


def test_a_mapping_to_no_axis_is_refused(traced: OpenTraced) -> None:
    with traced() as (engine, _, _):
        with pytest.raises(ConfigError, match="no axis is called") as refused:
            ScoreProcessor(engine, {"Relevance": "cognition"})
        assert "did you mean" in refused.value.remedy
        with pytest.raises(ConfigError, match="has one value"):
            AxisScale("safety", 1, 1)
