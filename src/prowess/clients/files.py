"""A client's file on the disk, and the copy of it that is kept beside it while prowess is in it.

Above: the commands. A file is written whole or not at all, readable by whoever could read it before; through
a link, not over it. The copy is written first, so that at no moment is there less than one whole state.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from prowess.errors import ConfigError
from prowess.sources.imports.documents import MAX_CONFIG_BYTES
from prowess.text.rewriting import replace_text

KEPT = ".before-prowess"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file and its copy; a text of None is a file that is not there."""

    path: Path

    @property
    def kept(self) -> Path:
        """Where the text from before prowess is kept."""
        return self.path.with_name(self.path.name + KEPT)

    def text(self) -> str | None:
        return _text(self.path)

    def kept_text(self) -> str | None:
        return _text(self.kept)

    def write(self, text: str | None, was: str | None) -> None:
        """Put a text in the place of the one that was read; raises where another program wrote meanwhile."""
        if self.text() != was:
            raise ConfigError(str(self.path), "was changed by another program meanwhile", "run this again")
        if text is None:
            _behind_links(self.path).unlink(missing_ok=True)
        else:
            _replace(self.path, text, self.path)

    def keep(self, text: str | None) -> None:
        """Keep a text beside the file; what was kept there of an earlier time stays, under a number."""
        if text is None or self.kept_text() == text:
            return
        _replace(self.kept, text, self.path)

    def set_kept_aside(self) -> Path | None:
        """Give what is kept of an earlier time another name, under which nothing overwrites it."""
        if not self.kept.exists():
            return None
        number = 1
        while (other := self.kept.with_name(f"{self.kept.name}.{number}")).exists():
            number += 1
        os.replace(self.kept, other)
        return other

    def forget_kept(self) -> None:
        self.kept.unlink(missing_ok=True)


def _text(file: Path) -> str | None:
    try:
        with open(file, "rb") as opened:
            content = opened.read(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            raise ConfigError(str(file), "is too large to be a configuration", "name another file")
        return content.decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(str(file), f"cannot be read ({reason})", "put the entry in by hand") from None


def _behind_links(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        raise ConfigError(str(file), "is a link that leads back to itself", "mend it, or remove it") from None


def _replace(file: Path, text: str, like: Path) -> None:
    """like: the file whose readers may read this one, too."""
    file, like = _behind_links(file), _behind_links(like)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, text, like.stat().st_mode & 0o777 if like.exists() else 0o600)
