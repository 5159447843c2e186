"""Find credentials that were left in a text: keys, tokens, private keys, passwords in addresses.

Above stands judge in sanitise. The shapes are those the issuers document; a placeholder is no secret.
"""

import base64
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

WEB_TOKEN = "a signed web token"
SHAPES = (
    ("a private key", r"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=\s]{40}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,64}\b"),
    ("a Slack token", r"\bxox[abprs]-\d{8,16}-[A-Za-z0-9-]{10,80}\b"),
    ("a Slack webhook", r"\bhooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,30}"),
    ("an OpenAI or Anthropic key", r"\bsk-(?:proj-|ant-(?:api\d\d-)?|svcacct-)?[A-Za-z0-9_-]{32,200}"),
    ("a Stripe key", r"\b(?:sk|rk)_live_[A-Za-z0-9]{20,120}\b"),
    ("a Google key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,200}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,60}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    (WEB_TOKEN, r"\beyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,600}"),
    ("a password in an address", r"\b[a-z][a-z0-9+]{2,12}://[^\s:/@\"'<>]{1,40}:([^\s:/@\"'<>{}$]{6,60})@[\w.-]{3,80}"),
    ("an assigned secret",
     r"(?i)\b[\w-]{0,30}(?:api_?key|secret_?key|access_?token|auth_?token|client_?secret|password)"
     r"[\"']?\s{0,3}[:=]\s{0,3}[\"']([A-Za-z0-9+/_=.-]{20,120})[\"']"),
)  # fmt: skip

PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|your|dummy|sample|fake|test|xxx|\*\*\*|\.\.\.|redacted|changeme|1234|abcd"
    r"|insert|<|password|secret|0000"
)
DISORDER = 3.0
"""Bits per character below which a string is a word or a pattern, not a key."""


@dataclass(frozen=True, slots=True)
class Secret:
    what: str
    place: int
    end: int


def secrets(text: str) -> tuple[Secret, ...]:
    """Every credential in a text; its value is never part of the answer."""
    return tuple(_found(text))


def _found(text: str) -> Iterator[Secret]:
    for what, shape in SHAPES:
        for match in re.finditer(shape, text):
            value = match[match.lastindex or 0]
            if what == WEB_TOKEN and PLACEHOLDER.search(_claims(value)):
                continue
            if not PLACEHOLDER.search(value) and (what == "a private key" or _disorder(value) > DISORDER):
                yield Secret(what, match.start(), _end(what, match))


def without_secrets(text: str) -> str:
    """The text for people: of a credential, only which kind it is."""
    kept, said = len(text), []
    for secret in sorted(secrets(text), key=lambda one: (one.end, one.place), reverse=True):
        if secret.place < kept:
            said += [text[min(secret.end, kept) : kept], f"[{secret.what}]"]
            kept = secret.place
    return text[:kept] + "".join(reversed(said))


def _end(what: str, match: re.Match[str]) -> int:
    """A private key goes on to the line that ends it, or for ever."""
    if what != "a private key":
        return match.end()
    last = re.compile(r"-----END [^-]{0,40}-----").search(match.string, match.end())
    return last.end() if last else len(match.string)


def _claims(token: str) -> str:
    """What a web token says; the one from the textbooks says that it is an example."""
    payload = token.split(".")[1]
    return base64.urlsafe_b64decode(payload[: len(payload) // 4 * 4]).decode("utf-8", "replace")


def _disorder(value: str) -> float:
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
