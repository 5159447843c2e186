"""Texts as they are compared: without letter case, and names without separators."""

import re
import unicodedata

_SEPARATORS = re.compile(r"[\W_]+")


def folded(text: str) -> str:
    """The text as it is compared: one form for each character, no letter case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def joined_name(name: str) -> str:
    """A name without case and separators, so that `Web Search`, `web-search` and `webSearch` are one."""
    return _SEPARATORS.sub("", folded(name))


def same_name(held: object, wanted: str | bool) -> bool:
    """Whether a field has a value, however its words are written: `Developer Tools` is `developer-tools`."""
    if held == wanted:
        return True
    return isinstance(held, str) and isinstance(wanted, str) and joined_name(held) == joined_name(wanted)
