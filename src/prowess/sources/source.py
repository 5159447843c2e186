"""What it means to be a source: one method that reads, given what is already known.

Above: the engine, which reads every source and hands the result to the catalogue.
Below: files, servers, modules. A source never raises for what it finds there; one bad entry is a
`Problem`, a source that cannot be read at all is a `SourceReading` with `down`.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from prowess.types import SourceReading

Known = Mapping[str, str]
"""Place -> stamp of every entry whose drafts the catalogue already holds."""

Progress = Callable[[int, int], None]
"""Called with (done, total) while a long reading goes on."""


def silent(done: int, total: int) -> None:
    """The progress nobody watches."""


class Source(Protocol):
    """What a sync reads. Write your own with a `name`, a `kind` and `read`, and hand it to `prowess.open`.

    `read` is given the stamp of every entry that is already known, by place, and need not read those again.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def read(self, known: Known, progress: Progress = silent) -> SourceReading: ...
