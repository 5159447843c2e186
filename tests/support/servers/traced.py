"""A gateway with OpenTelemetry configured (`traced`) or not, one call through it, and the spans as JSON."""

import json
import sys
import tempfile
from pathlib import Path

import anyio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.gateway import call, library, workshop, world

exporter = InMemorySpanExporter()


async def main(folder: Path) -> None:
    async with world(folder, workshop(), library()) as here, here.client(mode="legacy") as client:
        exporter.clear()
        with trace.get_tracer("agent").start_as_current_span("the agent's own"):
            await call(client, "tool:shop/echo", text="private words")
            await call(client, "tool:shop/complain")
            await client.get_prompt("library/recommend", {"genre": "verse"})


if "traced" in sys.argv:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
with tempfile.TemporaryDirectory() as name:
    anyio.run(main, Path(name))
spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
print(json.dumps(spans))
