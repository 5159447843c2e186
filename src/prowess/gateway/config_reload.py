"""A gateway follows its prowess.toml: sources that are added, changed or removed there, while it runs.

A file that cannot be used keeps what was there before, and says why. The other sections count from the next
start on.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from prowess import config as configuration
from prowess.config import Settings
from prowess.errors import ProwessError
from prowess.sources.configured import configured_sources, definitions, overrides
from prowess.sources.lock.lock_file import NAME as LOCK
from prowess.sources.overrides import Overrides
from prowess.sources.source import Source
from prowess.types import Trust

logger = logging.getLogger("prowess")


@dataclass(frozen=True, slots=True)
class Configured:
    """The sources of a configuration as it is now."""

    sources: tuple[Source, ...]
    definitions: Mapping[str, str]
    trust: Mapping[str, Trust]
    overrides: Mapping[str, Overrides]


def refuse_nothing(settings: Settings) -> None:
    """Any configuration may be used."""


@dataclass(frozen=True, slots=True)
class Reloading:
    file: Path
    environment: Mapping[str, str]
    refuse: Callable[[Settings], None] = refuse_nothing
    """Raises what speaks against a configuration here, beside what is wrong with it anywhere."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """What is watched: the file, the lock beside it, and where secrets are kept."""
        return (self.file, self.file.with_name(LOCK), *getattr(self.environment, "paths", ()))

    def read(self) -> Configured | None:
        """What the file says now; nothing, with a word, where it cannot be used."""
        try:
            settings = configuration.load(self.file, Path.cwd(), self.environment)
            self.refuse(settings)
            sources = configured_sources(settings, self.environment)
        except ProwessError as error:
            logger.error(
                "prowess.toml changed and cannot be used, so the sources stay as they were: %s", error
            )
            return None
        trust: dict[str, Trust] = {s.name: s.trust for s in settings.config.source if s.trust}
        return Configured(sources, definitions(settings, sources), trust, overrides(settings, sources))
