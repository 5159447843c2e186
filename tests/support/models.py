"""The shipped models are opened once for all engines of a worker.

To open the encoder takes a tenth of a second and the guard's network half of one, and most tests of search
or of what others wrote need them. They hold no state. Files that are not the shipped ones, or not intact,
are opened and refused as ever; a test marked `own_models` opens its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from prowess.discovery.encoder import SHIPPED as MODEL
from prowess.discovery.encoder import Encoder
from prowess.guard.integrity import fault
from prowess.guard.networks import ENCODER, SHIPPED, Reader


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "own_models: the test is about opening the shipped models")


@dataclass(frozen=True, slots=True)
class Opened:
    reader: Callable[[], Reader | None]
    encoder: Callable[[], Encoder]


@pytest.fixture(scope="session")
def opened_models() -> Opened:
    return Opened(cache(Reader.open), cache(Encoder.open))


@pytest.fixture(autouse=True)
def models_opened_once(request: pytest.FixtureRequest, opened_models: Opened) -> Iterator[None]:
    if request.node.get_closest_marker("own_models"):
        yield
        return
    read, encode = Reader.open, Encoder.open

    def reader(file: Path = SHIPPED, encoder: Path = ENCODER) -> Reader | None:
        is_shipped = (file, encoder) == (SHIPPED, ENCODER) and not fault()
        return opened_models.reader() if is_shipped else read(file, encoder)

    def encoding(folder: Path = MODEL) -> Encoder:
        return opened_models.encoder() if folder == MODEL else encode(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "open", reader)
        patch.setattr(Encoder, "open", encoding)
        yield
