"""A tool as a search shows it, whichever way was searched."""

from dataclasses import dataclass
from typing import Any

from prowess.discovery.text import split_name


@dataclass(frozen=True, slots=True)
class Found:
    id: str
    says: str = ""
    """What is shown of its description."""
    schema: dict[str, Any] | None = None
    """Of its arguments; nothing where it would have to be asked for."""
    weak: bool = False
    use: str = ""
    """How it is called, as the search said."""
    acts: bool = False
    """Whether it may change something."""
    parameters: tuple[str, ...] = ()
    """The names of its arguments, where its schema is not shown."""

    @property
    def server(self) -> str:
        return split_name(self.id.partition(":")[2].partition("/")[0])

    @property
    def name(self) -> str:
        """Its own name, in words."""
        return split_name(self.id.partition("/")[2])
