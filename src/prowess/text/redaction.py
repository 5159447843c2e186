"""Take secrets out of what people said before it is kept, and keep no more of it than is needed."""

import re

MAX_KEPT_CHARACTERS = 500
TAKEN_OUT = "[redacted]"

_TOKEN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{12,}|\bgithub_pat_\w{12,}"
    r"|\bglpat-[\w-]{12,}|\bxox[a-z]-[\w-]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|\b(?:npm|hf)_[A-Za-z0-9]{12,}|\bpypi-[\w-]{12,}|\bSG\.[\w.-]{16,}",
    re.DOTALL,
)
_IN_ADDRESS = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s:/@]{1,80}:)[^\s/@]+(?P<after>@)", re.I)
_NAMED = re.compile(
    r"(?P<before>\b(?:pass(?:word|phrase|wd|code)?|pwd|pin|secret|token|api[ _-]?key|access[ _-]?key|bearer|"
    r"credentials?)\b[\"']?(?:\s*[:=]\s*|\s+is\s+|\s+)[\"']?)(?P<value>[^\s\"',;]{4,})",
    re.I,
)
_LONG = re.compile(r"(?<![\w+/=.-])[A-Za-z0-9+/=_.-]{24,}(?![\w+/=.-])")


def redacted(text: str) -> str:
    """The text without what looks like a secret, on at most as many characters as are kept."""
    storable = text[: 4 * MAX_KEPT_CHARACTERS].replace("\0", "").encode("utf-8", "replace").decode()
    found = _TOKEN.sub(TAKEN_OUT, storable)
    found = _IN_ADDRESS.sub(rf"\g<before>{TAKEN_OUT}\g<after>", found)
    found = _NAMED.sub(_without_value, found)
    found = _LONG.sub(lambda match: TAKEN_OUT if _random(match[0]) else match[0], found)
    return found if len(found) <= MAX_KEPT_CHARACTERS else f"{found[: MAX_KEPT_CHARACTERS - 1]}…"


def _without_value(match: re.Match[str]) -> str:
    """`password: x` names a secret; `my password manager` does not."""
    assigned = match["before"].rstrip("\"'").rstrip().endswith((":", "=", " is"))
    return f"{match['before']}{TAKEN_OUT}" if assigned or _random(match["value"]) else match[0]


def _random(word: str) -> bool:
    """Letters and digits in one word of some length: a key, not a name."""
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word) and len(set(word)) >= 4
