"""One way to spell a name, for rules and for what they are held against.

Letters are compared in one normal form (NFC) and blanks around a name do not count. Case does: `tool:Read`
and `tool:read` may be two tools, and what differs in case from what exists does not exist.
"""

import re
import unicodedata

_JOINTS = re.compile(r"[\s_.-]+")


def composed(text: str) -> str:
    """The same letters in their one normal form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spelt(text: str) -> str:
    """A name as somebody wrote it, as it is compared."""
    return composed(text).strip()


def blurred(text: str) -> str:
    """What names that a person may confuse have in common; never a reason to allow or deny."""
    return _JOINTS.sub("_", unicodedata.normalize("NFKC", text).casefold())
