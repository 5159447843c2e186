"""Spans of a server go to a collector where OpenTelemetry's own variables name one.

OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 prowess serve
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prowess.errors import MissingExtra

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SECONDS_TO_SEND = 2.0
"""How long a collector may take; one that is away holds nobody up at the end."""


@contextmanager
def exporting(environment: Mapping[str, str]) -> Iterator[None]:
    """While this lasts, spans of this process are sent; OpenTelemetry reads its other variables itself."""
    if not any(environment.get(name) for name in ENDPOINTS):
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("sending spans to a collector", "otel") from error
    name = environment.get("OTEL_SERVICE_NAME") or "prowess"
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=SECONDS_TO_SEND)))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends what is left
