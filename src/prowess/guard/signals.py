"""Weigh what a text says: which families of patterns it shows, where, and whether it only quotes them.

Above stands judge in sanitise; below are patterns, in English and in other languages.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from prowess.guard.patterns import AttackPattern, english, foreign
from prowess.guard.quotations import QuotedSpans

NEAR = 500
"""Signals this many characters apart still speak of one thing."""
MAX_SIGNALS = 20
"""How many places of one pattern are looked at."""


IN_CODE = frozenset({"secrets", "execution", "shell", "sink"})
"""Families whose signs are commands, so that standing in code excuses nothing."""


ABOUT = re.compile(
    r"\b(?:attempt(?:s|ing|ed)?|tr(?:ies|ying)|designed|aim(?:s|ing|ed)?|seeks?|intended|attack(?:s|ers?)?"
    r"|adversar\w+|payloads?|injections?|jailbreaks?|detect(?:s|ing|ion)?|scan(?:s|ning)?|such as"
    r"|e\.g\.|phrases?|strings?|probes?|vulnerab\w+|malicious)"
    r"(?:[ ,:\"'`]+[\w-]+){0,3}[ ,:\"'`(]*$"
)


WHOSE = re.compile(
    r"\b(?:previous|prior|preceding|earlier|above|foregoing|original|initial|existing|current|system|developer"
    r"|your)\b"
)
"""Words for the instructions a model has; an order to drop those protects nothing."""
DATA = (
    r"(?:documents?|contents?|pages?|webpages?|websites?|sites?|files?|e-?mails?|results?|outputs?|data|texts?"
    r"|messages?|descriptions?|sources?|inputs?|attachments?|tickets?|comments?|code)"
)
INSIDE = re.compile(
    r"[\s*_`]*(?:(?:that|which) (?:\w+ ){0,3})?"
    r"(?:embedded|found|contained|hidden|included|placed|appearing|within|inside|in)\b"
    r"(?: (?:within|inside|in|the|any|such|uploaded|external|retrieved|untrusted|user|tool|web|these)){0,4}"
    rf" {DATA}\b"
)
STRAY = re.compile(
    r"\b(?:any|such|embedded|suspicious|malicious|unexpected|injected|untrusted|third-party)\b"
)
IF_FOUND = re.compile(
    rf"\bif (?:\w+ ){{0,4}}(?:{DATA} (?:contains?|includes?|has|holds?|tells?|asks?)"
    r"|(?:finds?|notices?|sees?|encounters?))\b"
    r"[^.\n]{0,120}$"
)
BEFORE = 160
FORBIDDING = ("consent",)
"""Families of what an honest text forbids: to act without asking."""
FORBIDS = re.compile(
    r"(?<!\w)(?:never|not|nor|neither|cannot|forbid\w*|prohibit\w*|\w{2,8}n['\u2019]t|niemals|nie|nicht|kein\w{0,2}"
    r"|jamais|aucune?|rien|ne|pas|nunca|jam[aá]s|ning[uú]n\w*|n[aã]o|nem|nenhum\w?|mai|non|nooit|niet|geen"
    r"|aldrig|inte|ikke|nigdy|не|никогда|нельзя|jangan|tidak|đừng|không|asla"
    r"|لا|لن|يُ?منع)(?!\w)|不要|不得|不会|切勿|禁止|别|勿|อย่า|ห้าม"
    r"|絶対に[^\u3002]{0,40}ない",
    re.IGNORECASE,
)
FORBIDS_BEHIND = re.compile(
    r"[^.\n\u3002\u0964]{0,24}?(?:ないで|ません|てはならない|禁止|지 마|지 않|नहीं|मत |न (?:कर|मिट|भेज|दे)"
    r"|(?:silme|gönderme|değiştirme|yapma)(?:z|yin)?(?!\w))"
)
"""Some languages say at the end that something must not be done."""
CLAUSE = re.compile(r"[.;:!?\n\u3002\uff01\uff1f\uff1b\u0964\u061b]")
THAT = re.compile(r"\b(?:that|which) $")


@dataclass(frozen=True, slots=True)
class Signal:
    family: str
    weight: int
    reason: str
    place: int
    shown: bool
    """Whether it stands in code or a quotation: shown rather than said."""


def signals(plain: str, latin: str, shown: QuotedSpans) -> tuple[Signal, ...]:
    """Every signal of a folded text, in order of place."""
    found = list(_matches(english(), latin, shown))
    for language in foreign():
        if language.needed.search(plain):
            found += _matches(language.patterns, plain, shown)
    return tuple(sorted(found, key=lambda signal: signal.place))


def _matches(known: Iterable[AttackPattern], text: str, shown: QuotedSpans) -> Iterator[Signal]:
    for pattern in known:
        for match in islice(pattern.expression.finditer(text), MAX_SIGNALS):
            spans = shown.quotations if pattern.family in IN_CODE else shown.all
            excused = spans.hold(match.start(), match.end())
            spared = _described(text, match.start()) or _protects(pattern, text, match)
            weight = 0 if _forbids(pattern, text, match) else pattern.weight - spared
            if weight > 0:
                yield Signal(pattern.family, weight, pattern.reason, match.start(), excused)


def _described(text: str, place: int) -> bool:
    """Whether the words before speak about an attack, as documentation does."""
    start = max(0, place - 60)
    return bool(ABOUT.search(text, start, place) or THAT.search(text, start, place))


def _forbids(pattern: AttackPattern, text: str, match: re.Match[str]) -> bool:
    """Whether it says that something must not be done without asking."""
    if pattern.family not in FORBIDDING:
        return False
    start = max(0, match.start() - BEFORE)
    clause = CLAUSE.split(text[start : match.start()])[-1]
    return bool(FORBIDS.search(clause) or FORBIDS_BEHIND.match(text, match.end()))


def _protects(pattern: AttackPattern, text: str, match: re.Match[str]) -> bool:
    """Whether it orders to drop what stands in data, as operating cards do: whose instructions, counts."""
    said = match[0]
    if pattern.family != "override" or WHOSE.search(said):
        return False
    if STRAY.search(said) or INSIDE.match(text, match.end()):
        return True
    start = max(text.rfind(".", 0, match.start()), text.rfind("\n", 0, match.start()), match.start() - BEFORE)
    return bool(IF_FOUND.search(text, max(0, start), match.start()))


def heaviest(found: Iterable[Signal]) -> tuple[int, tuple[Signal, ...]]:
    """The most weight any stretch of the text carries, each family counted once, and what carries it."""
    best: tuple[int, tuple[Signal, ...]] = (0, ())
    held: list[Signal] = []
    for signal in found:
        held = [other for other in held if other.place > signal.place - NEAR] + [signal]
        families: dict[str, Signal] = {}
        for other in held:
            known = families.get(other.family)
            if known is None or other.weight > known.weight:
                families[other.family] = other
        weight = sum(one.weight for one in families.values())
        if weight > best[0]:
            best = weight, tuple(families.values())
    return best
