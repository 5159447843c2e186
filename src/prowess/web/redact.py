"""What others wrote, for people to read: nothing unseen in it, and no credential. Escaping is the page's."""

from collections.abc import Iterator, Sequence

from prowess.text.invisible import visible
from prowess.text.secrets import without_secrets


def plain(text: str) -> str:
    """Each character nobody sees by its number; a credential that somebody left in a text by its kind."""
    return visible(without_secrets(text))


def marked(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines of a difference as (mark, text), as the macro in parts.html takes them."""
    for number, line in enumerate(lines[2:]):
        if not line.startswith("@@"):
            yield line[:1], plain(line[1:])
        elif number:
            yield "…", "…"
