"""The guard's networks are opened once for all engines of a worker.

To make them from their files takes half a second, and most tests of what others wrote need them. They hold no
state. Files that are not the shipped ones, or not intact, are opened and refused as ever.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from prowess.guard.integrity import fault
from prowess.guard.networks import ENCODER, SHIPPED, Reader


@pytest.fixture(scope="session", autouse=True)
def networks_opened_once() -> Iterator[None]:
    usual, shipped = Reader.open, cache(Reader.open)

    def opened(file: Path = SHIPPED, encoder: Path = ENCODER) -> Reader | None:
        return shipped() if (file, encoder) == (SHIPPED, ENCODER) and not fault() else usual(file, encoder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "open", opened)
        yield
