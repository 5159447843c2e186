"""What tests of traces share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from prowess import Engine
from prowess.config import LearningConfig
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.otel import OutcomeProcessor, SpanTracer
from prowess.sources.python.functions import Functions
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from tests.otel.tracing import OpenTraced, Traced, find_flights, weather_forecast

POLICY = """
profiles:
  owner: {agents: [default, ada], additional_tools: ["*"]}
"""


@pytest.fixture
def traced(store_url: str, tmp_path: Path) -> OpenTraced:
    """An engine that is traced, the provider of the spans, and the processor that listens to them."""

    @contextmanager
    def opened(**options: Any) -> Iterator[Traced]:
        file = tmp_path / "policy.yaml"
        file.write_text(POLICY)
        provider = TracerProvider()
        chosen = EngineOptions(
            policy_files=(file,), embedder=word_embedder, tracer=SpanTracer(provider),
            learning=LearningConfig(mode="accumulate"),
        )  # fmt: skip
        sources = [Functions(name="own", functions=(find_flights, weather_forecast))]
        with Engine(open_database(store_url, tmp_path), sources, now, {}, chosen) as engine:
            engine.sync()
            processor = OutcomeProcessor(engine, **options)
            provider.add_span_processor(processor)
            yield engine, provider, processor
            provider.shutdown()

    return opened
