"""The one turn, top to bottom. Only this package knows the order of the stages."""

from prowess.engine.engine import Engine

__all__ = ["Engine"]
