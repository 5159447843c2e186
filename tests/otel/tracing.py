"""An engine whose program is traced."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from prowess import Engine
from prowess.otel import OutcomeProcessor

Traced = tuple[Engine, TracerProvider, OutcomeProcessor]
OpenTraced = Callable[..., AbstractContextManager[Traced]]


def find_flights(origin: str, destination: str) -> str:
    """Find flights from one city to another."""
    return f"{origin} to {destination}: 07:40"


def weather_forecast(city: str) -> str:
    """Tell the weather of a city."""
    raise LookupError(f"no city is called {city}")


def outcomes(engine: Engine, agent: str = "default") -> list[Any]:
    return [entry.data for entry in engine.journal.latest(100, agent, type="outcome")]
