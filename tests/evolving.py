"""The engine and its evolution, under the names these tests use."""

from prowess.engine import Engine as EvolvingEngine
from prowess.engine.evolving import Evolving

__all__ = ["Evolving", "EvolvingEngine"]
