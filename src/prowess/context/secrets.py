"""Find credentials that were left in a text: keys, tokens, private keys, passwords in addresses.

Above stands judge in sanitise. The shapes are those the issuers document; a placeholder is no secret.
"""

import base64
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from prowess.context.characters import unmasked

PRIVATE_KEY = "a private key"
BASIC = "a name and a password"
WEB_TOKEN = "a signed web token"
SHAPES = (
    (PRIVATE_KEY, "private key",
     r"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=\s]{40}"),
    ("an AWS access key", "akia|asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("a GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
     r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    ("a GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,64}\b"),
    ("a Slack token", "xox", r"\bxox[abprs]-\d{8,16}-[A-Za-z0-9-]{10,80}\b"),
    ("a Slack webhook", "hooks.slack.com",
     r"\bhooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,30}"),
    ("an OpenAI or Anthropic key", "sk-", r"\bsk-(?:proj-|ant-(?:api\d\d-)?|svcacct-)?[A-Za-z0-9_-]{32,200}"),
    ("a Stripe key", "k_live_", r"\b(?:sk|rk)_live_[A-Za-z0-9]{20,120}\b"),
    ("a Google key", "aiza", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    ("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", "pypi-", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,200}"),
    ("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,60}\b"),
    ("a SendGrid key", "sg.", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    (WEB_TOKEN, "eyj", r"\beyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,600}"),
    ("a password in an address", "://",
     r"\b[a-z][a-z0-9+]{2,12}://[^\s:/@\"'<>]{1,40}:([^\s:/@\"'<>{}$]{6,60})@[\w.-]{3,80}"),
    ("an AWS secret key", "aws_secret",
     r"(?i)aws_secret_access_key[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    ("a bearer token", "authorization",
     r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|token)\s{1,3}([A-Za-z0-9._~+/=-]{20,600})"),
    (BASIC, "authorization",
     r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?basic\s{1,3}([A-Za-z0-9+/]{12,400})"),
    ("an Azure account key", "accountkey=", r"\bAccountKey=([A-Za-z0-9+/]{86}==)"),
    ("a Twilio key", "sk", r"\bSK[0-9a-f]{32}\b"),
    ("a Discord token", ".", r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b"),
    ("a Discord webhook", "webhooks/",
     r"\bdiscord(?:app)?\.com/api/webhooks/\d{17,20}/([A-Za-z0-9_-]{60,80})"),
    ("a Telegram token", ":aa", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("a DigitalOcean token", "_v1_", r"\bdo[opr]_v1_([0-9a-f]{64})\b"),
    ("a Doppler token", "dp.",
     r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?([A-Za-z0-9]{40,44})\b"),
    ("a Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_([0-9a-fA-F]{32})\b"),
    ("an age key", "age-secret-key", r"\bAGE-SECRET-KEY-1([02-9AC-HJ-NP-Z]{58})\b"),
    ("an assigned secret", "key|token|secret|password",
     r"(?i)(?:api_?key|secret_?key|access_?token|auth_?token|client_?secret|password)"
     r"[\"']?\s{0,3}[:=]\s{0,3}[\"']([A-Za-z0-9+/_=.-]{20,120})[\"']"),
)  # fmt: skip

"""What it is, what a text has in small letters that has one, and how it is written."""

PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|your|dummy|sample|fake|test|xxx|\*\*\*|\.\.\.|redacted|changeme|1234|abcd"
    r"|insert|<|password|secret|0000|s6bhdrkqt3|open sesame"
)
READABLE = (WEB_TOKEN, BASIC)
KEY_END = re.compile(r"-----END [^-]{0,40}-----")
DISORDER = 3.0
"""Bits per character below which a string is a word or a pattern, not a key."""


@dataclass(frozen=True, slots=True)
class Secret:
    what: str
    place: int
    end: int


def secrets(text: str) -> tuple[Secret, ...]:
    """Every credential in a text, also one with unseen or wide letters; its value is not in the answer."""
    plain = unmasked(text)
    return tuple(Secret(what, *plain.span(start, end)) for what, start, end in _found(plain.text))


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    endings: list[int] | None = None
    small = text.lower()
    for what, signs, shape in SHAPES:
        if not any(sign in small for sign in signs.split("|")):
            continue
        for match in re.finditer(shape, text):
            if not _is_secret(what, match[match.lastindex or 0]):
                continue
            if what == PRIVATE_KEY:
                if endings is None:
                    endings = [last.end() for last in KEY_END.finditer(text)]
                yield what, match.start(), _end(endings, match)
            else:
                yield what, match.start(), match.end()


def _is_secret(what: str, value: str) -> bool:
    if what in READABLE and PLACEHOLDER.search(_said(what, value)):
        return False
    return not PLACEHOLDER.search(value) and (what == PRIVATE_KEY or _disorder(value) > DISORDER)


def without_secrets(text: str) -> str:
    """The text for people: of a credential, only which kind it is."""
    kept, said = len(text), []
    for secret in sorted(secrets(text), key=lambda one: (one.end, one.place), reverse=True):
        if secret.place < kept:
            said += [text[min(secret.end, kept) : kept], f"[{secret.what}]"]
            kept = secret.place
    return text[:kept] + "".join(reversed(said))


def _end(endings: list[int], match: re.Match[str]) -> int:
    """A private key goes on to the line that ends it, or for ever."""
    at = bisect_left(endings, match.end())
    return endings[at] if at < len(endings) else len(match.string)


def _said(what: str, token: str) -> str:
    """What a token says to whoever decodes it; one from the textbooks says that it is an example."""
    payload = token.split(".")[1] if what == WEB_TOKEN else token
    whole = payload[: len(payload) - (len(payload) % 4 == 1)]
    return base64.urlsafe_b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8", "replace")


def _disorder(value: str) -> float:
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
