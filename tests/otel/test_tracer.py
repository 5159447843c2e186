"""What prowess does is seen in the traces of the program that it works in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import prowess
from prowess import Engine
from prowess.otel import SpanTracer
from prowess.sources.python.functions import Functions
from prowess.testing import word_embedder

POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}, none: {agents: [ada]}}'


def greet(name: str) -> str:
    """Greet somebody."""
    if name == "nobody":
        raise ValueError("there is nobody called nobody")
    return f"hello {name}"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def engine(exporter: InMemorySpanExporter, store_url: str, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with prowess.open(
        store_url, config=str(tmp_path / "prowess.toml"), sources=[Functions(name="own", functions=(greet,))],
        tracer=SpanTracer(provider), embedder=word_embedder()[1], embedding_model_id="words",
    ) as engine:  # fmt: skip
        engine.sync()
        yield engine


def spans(exporter: InMemorySpanExporter) -> list[tuple[str, dict[str, Any]]]:
    return [(span.name, dict(span.attributes or {})) for span in exporter.get_finished_spans()]


def test_an_offer_and_a_call_are_spans_that_name_each_other(
    engine: Engine, exporter: InMemorySpanExporter
) -> None:
    offer = engine.offer("greet somebody")
    result = engine.call("greet", {"name": "Ann"}, offer=offer)
    (offered, about), (called, use) = spans(exporter)
    assert (offered, called) == ("retrieval prowess", "execute_tool greet")
    assert about["prowess.offer.id"] == use["prowess.offer.id"] == offer.id
    assert (about["prowess.hits"], about["prowess.tokens"]) == (("tool:greet",), offer.tokens.total)
    assert (use["gen_ai.tool.name"], use["gen_ai.agent.name"]) == ("tool:greet", "default")
    assert (use["gen_ai.tool.call.id"], use["prowess.outcome"]) == (result.id, "ok")
    assert "Ann" not in str(spans(exporter))


def test_a_search_of_a_model_is_a_span_that_holds_the_id_its_calls_refer_to(
    engine: Engine, exporter: InMemorySpanExporter
) -> None:
    found = engine.call("discover_capabilities", {"query": "greet somebody"})
    name, about = spans(exporter)[0]
    assert name == "retrieval prowess"
    assert about["prowess.offer.id"] == found.offer


@pytest.mark.parametrize(
    ("agent", "name", "expected", "is_error"),
    [("default", "nobody", "failed", True), ("ada", "Ann", "denied", True)],
)
def test_a_call_that_went_wrong_is_an_error_of_its_kind(
    engine: Engine, exporter: InMemorySpanExporter, agent: str, name: str, expected: str, is_error: bool
) -> None:
    engine.call("greet", {"name": name}, agent=agent)
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == expected
    assert (span.status.status_code.name == "ERROR") == is_error
    assert "nobody" not in span.to_json()


def test_a_name_as_long_as_a_book_is_cut(engine: Engine, exporter: InMemorySpanExporter) -> None:
    engine.call("x" * 100_000)
    (span,) = exporter.get_finished_spans()
    assert len(span.to_json()) < 5000
