"""The engine: what a library user holds, and what every face calls.

Above: the faces and user code. Below: one part for each question, in the order they are asked; each
knows the ones before it and none after. A change that spans two owners is one transaction opened by
the engine, and every change is journalled in it.
"""

from functools import cached_property
from types import TracebackType
from typing import Self

from prowess.engine.learnt import WhatIsLearnt


class Engine(WhatIsLearnt):
    """What an agent can do, turn after turn. Make one with `prowess.open()`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and let go of what was loaded when it was first needed: models are large."""
        self._database.close()
        loaded = {name for part in type(self).__mro__ for name in vars(part) if _is_loaded_late(part, name)}
        for name in loaded:
            self.__dict__.pop(name, None)


def _is_loaded_late(part: type, name: str) -> bool:
    return isinstance(vars(part)[name], cached_property)
