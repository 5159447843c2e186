"""What would change in a file, for a person to read: no value of a secret is shown.

Above: the commands.
"""

from collections.abc import Iterable, Iterator
from difflib import unified_diff

from prowess.text.secrets import without_secrets

HIDDEN = "*****"
MAX_LINE_LENGTH = 200
SHORTEST_HIDDEN = 6


def difference(name: str, before: str | None, after: str | None, secrets: Iterable[str] = ()) -> str:
    """The changed lines, with one line around them.

    secrets: texts that are put out of sight.
    """
    hidden = sorted((secret for secret in secrets if secret), key=len, reverse=True)
    old, new = (before or "").splitlines(), (after or "").splitlines()
    return "\n".join(_lines(unified_diff(old, new, name, name, lineterm="", n=1), hidden))


def _lines(lines: Iterable[str], hidden: list[str]) -> Iterator[str]:
    for line in lines:
        for secret in hidden:
            # A short one is hidden where it is a whole value: elsewhere it is part of a word.
            shown = secret if len(secret) >= SHORTEST_HIDDEN else f'"{secret}"'
            line = line.replace(shown, HIDDEN)
        line = without_secrets(line)
        yield line if len(line) <= MAX_LINE_LENGTH else f"{line[:MAX_LINE_LENGTH]}…"
