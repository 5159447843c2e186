"""A `.env` beside prowess.toml, read when prowess.toml asks for it, and again when it has changed."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prowess.errors import ConfigError, MissingExtra, ProwessError

logger = logging.getLogger("prowess")


@dataclass(slots=True)
class EnvFile:
    """The variables of one file; a file that is not there has none."""

    file: Path
    _stamp: tuple[int, ...] = ()
    _values: Mapping[str, str] = field(default_factory=dict)

    def values(self) -> Mapping[str, str]:
        try:
            status = os.stat(self.file)
        except OSError:
            self._stamp, self._values = (), {}
            return self._values
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._stamp:
            try:
                self._values = self._load()
            except ProwessError as error:
                if not self._stamp:
                    raise
                logger.warning("%s", error)  # no turn ends for it; what was read before stays
            self._stamp = stamp
        return self._values

    def _load(self) -> Mapping[str, str]:
        try:
            from dotenv import dotenv_values  # the optional part `secrets`
        except ImportError as error:
            raise MissingExtra(f"reading {self.file.name}", "secrets") from error
        try:
            # A reference in a value means itself: `$` is common in passwords.
            found = dotenv_values(self.file, interpolate=False, encoding="utf-8")
        except (OSError, UnicodeDecodeError) as failure:
            raise ConfigError(
                str(self.file), f"cannot be read ({type(failure).__name__})", "save it as UTF-8 text"
            ) from None
        return {name: value for name, value in found.items() if value}
