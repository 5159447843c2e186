"""What entries of the journal are searched by, besides their chain and type: words, time, and how it ended.

Above: the journal. Below: nothing. Both databases compare the text of an entry's data; large and small
letters are the same.
"""

import string
from dataclasses import dataclass
from typing import Any

import msgspec

WRONG: dict[str, Any] = {
    "not_ok": '%"ok":false%',
    "failed": '%"outcome":"failed"%',
    "denied": '%"verdict":"deny"%',
}
"""What stands in an entry of what went wrong or was denied."""
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalSearch:
    text: str = ""
    """Only entries with these words, beside each other, anywhere in them."""
    since: str = ""
    """Only what is not before this time."""
    wrong: bool = False
    """Only what failed or was denied."""

    def __bool__(self) -> bool:
        return bool(self.text or self.since or self.wrong)

    @property
    def pattern(self) -> str:
        """For LIKE: SQLite folds no letter beyond ASCII, so any letter may stand for one; `is_in` decides."""
        folded = _as_stored(self.text).translate(_SMALL)
        return f"%{''.join(escaped(one) if one.isascii() else '_' for one in folded)}%"

    def is_in(self, data: object) -> bool:
        """Whether the words are in what a person may see of an entry."""
        return (
            _as_stored(self.text).lower() in msgspec.json.encode(data, order="deterministic").decode().lower()
        )


EVERYTHING = JournalSearch()


def escaped(text: str) -> str:
    """For LIKE, where nothing of it stands for anything else."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _as_stored(text: str) -> str:
    return msgspec.json.encode(text).decode()[1:-1]
