"""The engine: what a library user holds, and what every face calls.

Above: the faces and user code. Below: one part for each question, in the order they are asked; each
knows the ones before it and none after. A change that spans two owners is one transaction opened by
the engine, and every change is journalled in it.
"""

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
        self._database.close()
