"""The sanitiser: nothing reaches a prompt but through here.

Two jobs, kept apart. `neutralise` changes a text so that nothing in it can pass for another voice, and
leaves honest text as it is. `judge` changes nothing and says what a text tries to do, for quarantine and
people to act on. Above stand cards, tiers and every face; below are the readers beside this file.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal, Self

import numpy as np

from prowess.guard.classifier import Classifier, ClassifierScore
from prowess.guard.encodings import Spoken, spoken
from prowess.guard.networks import Stretch
from prowess.guard.parsed_text import (
    ENOUGH,
    MOST_HIDDEN,
    ParsedText,
    quoted_orders,
    read,
    rules_count,
    signals_of,
    tells_to_drop,
)
from prowess.guard.quotations import QuotedSpans, Spans, code, shown, without_frontmatter
from prowess.guard.roles import FLOOD, Forgery, flatten, forgeries, is_flood, silence
from prowess.guard.signals import heaviest
from prowess.guard.text_parts import MAX_JUDGED_LENGTH, parts
from prowess.text.characters import fold
from prowess.text.invisible import CONTROL, INVISIBLE, uncover
from prowess.text.secrets import masked, secrets, without_secrets

Channel = Literal["tool_description", "schema_field", "card", "skill", "result"]
Provenance = Literal["approved", "known", "unapproved", "changed"]
Severity = Literal["low", "medium", "high"]
Outcome = Literal["pass", "warn", "reject"]

DOCUMENTS: tuple[Channel, ...] = ("card", "skill")
"""Channels whose texts are files with frontmatter; in a result, frontmatter is data."""

ROUNDS = 5
"""How often mending may uncover something new before the text is flattened."""

BEYOND_DOUBT = 5
"""The weight from which on the classifier is no longer asked whether the rules are mistaken."""
SHOWN_ENOUGH = 10
"""The same for what stands in code or quotation marks: a whole forged conversation, not an example."""

HIDDEN_READ = 6
"""How many hidden stretches the classifier reads, besides the text itself."""
MOST_SHOWN = 120
"""How much of a sentence a finding repeats."""
STOPS = (". ", "! ", "? ", "\n", "\u3002", "\uff01", "\uff1f")
FEWEST_WORDS, FEWEST_CHARACTERS = 8, 80
"""A card or a skill with less than both says too little to be taken for an attack by how it reads."""

FORBIDDEN = re.compile(
    r"ignore (?:all )?(?:previous|prior|all|above|the above) (?:instructions|prompts|context)"
    r"|disregard[^\n]{0,200}? above(?= ?(?:$|\n|[.,;:!)]|and\b|instructions|text|prompt))"
    r"|disregard (?:everything|all|previous|prior) (?:above|instructions)"
    r"|new instructions:|system:\s{0,8}you are now|forget (?:everything|all) (?:you know|about)"
)

QUOTED_ATTACK = "quoted"
"""The family of what a document quotes and does not say."""
DROPPING = "tells the model to drop its instructions"
QUOTED = re.compile(r"[«“„「『][^«»“”„「」『』\n]{1,200}[»”“」』]")

REMOVED = "[encoded text removed]"
LONGEST_REMEMBERED = 20_000
SAYING = 20
"""How many characters an override has at least."""


class Prompt(str):
    """Text that went through the sanitiser. Made by `admit` alone; asking for one elsewhere fails."""

    __slots__ = ()

    def __new__(cls, text: str, seal: object = None) -> Self:
        if seal is not _SEAL:
            raise TypeError("a Prompt is made by prowess.guard.sanitise.admit, from any text")
        return super().__new__(cls, text)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy, in this process or another, is just text: hosts copy the definitions they are given."""
        return str, (str(self),)


_SEAL = object()


@dataclass(frozen=True, slots=True)
class Neutralised:
    text: Prompt
    changed: bool
    """Whether anything but the frontmatter was taken out or rewritten."""


@dataclass(frozen=True, slots=True)
class Finding:
    family: str
    place: int
    reason: str
    severity: Severity
    sentence: str = ""
    """What it is about, in the text's own words, where the reason does not repeat them."""

    @property
    def told(self) -> str:
        """The reason, and the sentence it was found in."""
        return f"{self.reason}: {self.sentence!r}" if self.sentence else self.reason


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Outcome
    findings: tuple[Finding, ...] = ()

    @property
    def reason(self) -> str:
        """The gravest finding in words; empty when there is none."""
        worst = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        return worst[0].told if worst else ""


SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


def admit(text: str, channel: Channel = "card") -> Prompt:
    """The only way to make text for a prompt."""
    return _admitted(text, channel) if len(text) <= LONGEST_REMEMBERED else neutralise(text, channel).text


@lru_cache(maxsize=512)
def _admitted(text: str, channel: Channel) -> Prompt:
    """A conversation shows the same texts again and again."""
    return neutralise(text, channel).text


def neutralise(text: str, channel: Channel = "card") -> Neutralised:
    """The text without anything that could pass for another voice; the same however often it is done."""
    body = without_frontmatter(text) if channel in DOCUMENTS else text
    mended = body
    for _ in range(ROUNDS):
        before = mended
        mended = _mend(before, channel)
        if mended == before:
            return Neutralised(Prompt(mended, _SEAL), mended != body)
    return Neutralised(Prompt(_settled(flatten(mended), channel), _SEAL), True)


def _mend(text: str, channel: Channel) -> str:
    mended = silence(uncover(text))
    if mended == text:
        # What is encoded takes longest to read: once, when all else is done.
        mended = _without_encoded_voices(text)
    return without_frontmatter(mended) if channel in DOCUMENTS else mended


def _settled(text: str, channel: Channel) -> str:
    """A flattened text has no signs left to rejoin; what mending still finds in it goes the same way."""
    return flatten(_without_encoded_voices(_mend(text, channel)))


def _without_encoded_voices(text: str) -> str:
    """Take out encoded stretches that decode to a role marker, a tag, a token or an override."""
    said = spoken(text)
    if is_flood(said.text) or len(found := forgeries(said.text)) > FLOOD:
        return flatten(text)
    speaking = (said.span(one.start) for one in found if _is_voice(said.text, one))
    voices = Spans.of([*speaking, *_overrides(said)])
    shielded = code(text) if voices.starts else Spans()
    kept: list[str] = []
    at = 0
    for start, end in voices:
        if not shielded.hold(start, end):
            kept += [text[at:start], REMOVED]
            at = end + len(text[end : end + 2]) - len(text[end : end + 2].lstrip("="))
    return "".join([*kept, text[at:]])


def _is_voice(said: str, forgery: Forgery) -> bool:
    """A name and a password are written with a colon too, but with no blank behind it."""
    return forgery.form != "marker" or said[forgery.end : forgery.end + 1].isspace()


def _overrides(said: Spoken) -> Iterator[tuple[int, int]]:
    """The stretches that tell the model to drop its instructions, of the first that are long enough."""
    left = MOST_HIDDEN
    sizes = np.diff(said.lines, append=len(said.text))
    for line, size in zip(said.lines[sizes > SAYING], sizes[sizes > SAYING], strict=True):
        words = said.text[line : line + min(size, left)]
        left -= len(words)
        if " " in words and tells_to_drop(words):
            yield said.span(int(line))
        if left <= 0:
            return


def judge(
    text: str, channel: Channel, provenance: Provenance = "unapproved", classifier: Classifier | None = None
) -> Judgement:
    """What a text tries to do, and whether it may be shown. Works without a classifier, less sharply."""
    if classifier is None:
        return _judged(text, channel, provenance, None)
    about = (channel, provenance)
    return classifier.remembered(text, about, lambda: _judged(text, channel, provenance, classifier))


def _judged(text: str, channel: Channel, provenance: Provenance, classifier: Classifier | None) -> Judgement:
    body = without_frontmatter(text) if channel in DOCUMENTS else text
    offset, little = len(text) - len(body), channel in DOCUMENTS and _says_little(text)
    findings = [
        replace(found, place=offset + start + found.place)
        for start, part in parts(body)
        for found in _findings(part, channel, classifier, little)
    ]
    # Values of frontmatter stand in quotation marks without being quotations.
    for start, front in parts(text[:offset]):
        reading = ParsedText(front, signals_of(front, QuotedSpans()), (), QuotedSpans())
        findings += [replace(found, place=start + found.place) for found in _said(reading)]
    if len(text) > MAX_JUDGED_LENGTH:
        reason = f"says more than {MAX_JUDGED_LENGTH:,} characters, and the rest was not read"
        findings.append(Finding("length", MAX_JUDGED_LENGTH, reason, "medium"))
    weighed = tuple(dict.fromkeys(_weighed(findings, channel, provenance)))
    return Judgement(_verdict(weighed), weighed)


def _findings(body: str, channel: Channel, classifier: Classifier | None, little: bool) -> list[Finding]:
    reading = read(body)
    findings = [*_secrets(body), *_voices(body), *_unseen(body), *_said(reading), *_hidden(reading)]
    if classifier is not None:
        findings = _advised(reading, findings, classifier, channel)
    if little and not reading.hidden:
        findings = [replace(one, severity="medium") if one.family == "learned" else one for one in findings]
    if channel in DOCUMENTS and not any(one.family == QUOTED_ATTACK for one in findings):
        findings += _quoted(reading)
    if channel == "card":
        findings += [*_forbidden(body), *_dropping(reading)]
    masked_body = masked(body) if findings else body
    return [_in_words(finding, masked_body) for finding in findings]


def _verdict(findings: Iterable[Finding]) -> Outcome:
    severities = {finding.severity for finding in findings}
    return "reject" if "high" in severities else "warn" if severities else "pass"


def _weighed(findings: Iterable[Finding], channel: Channel, provenance: Provenance) -> Iterator[Finding]:
    """A text a person approved is only reported on, except for secrets; results hold secrets lawfully.

    Of one that changed after that, what is doubtful counts too.
    """
    for finding in findings:
        lawful = finding.family == "secret" and channel == "result"
        approved = finding.family != "secret" and provenance == "approved"
        if finding.severity == "high" and (lawful or approved):
            yield replace(finding, severity="medium")
        elif finding.severity == "medium" and provenance == "changed":
            yield replace(finding, severity="high")
        else:
            yield finding


def _secrets(text: str) -> Iterator[Finding]:
    for secret in secrets(text):
        yield Finding("secret", secret.place, f"carries {secret.what}", "high")


def _forbidden(text: str) -> Iterator[Finding]:
    """Sayings no card may have unless it plainly quotes them."""
    folded = fold(text).text
    excused = shown(folded)
    for match in FORBIDDEN.finditer(folded):
        if not excused.all.hold(match.start(), match.end()):
            yield Finding("override", match.start(), f"says {match[0][:60]!r}", "high")


def _dropping(reading: ParsedText) -> Iterator[Finding]:
    """The same in any wording and language that the rules know."""
    for signal in reading.signals:
        plainly = signal.reason.startswith(DROPPING) and signal.weight >= ENOUGH and not signal.shown
        if plainly and not QUOTED.match(reading.text, max(0, signal.place - 1)):
            yield Finding(signal.family, signal.place, signal.reason, "high")
            return  # patterns of several languages know the same words


def _voices(text: str) -> Iterator[Finding]:
    for forgery in forgeries(text)[:20]:
        reason = f"speaks in another voice: {forgery.name[:40]}"
        yield Finding(f"role {forgery.form}", forgery.start, reason, "low")


def _unseen(text: str) -> Iterator[Finding]:
    if len(uncover(text)) < len(text):
        first = INVISIBLE.search(text) or CONTROL.search(text)
        yield Finding("characters", first.start() if first else 0, "has characters nobody sees", "medium")


def _said(reading: ParsedText) -> list[Finding]:
    """What is said in the open, weighed where it stands close together."""
    weight, carrying = heaviest(signal for signal in reading.signals if not signal.shown)
    quoted_weight, quoted = heaviest(reading.signals)
    if weight < ENOUGH and quoted_weight >= SHOWN_ENOUGH and any(s.family == "structure" for s in quoted):
        weight, carrying = ENOUGH, quoted
    severity: Severity = "high" if weight >= ENOUGH else "medium" if weight == ENOUGH - 1 else "low"
    return [Finding(signal.family, signal.place, signal.reason, severity) for signal in carrying]


def _hidden(reading: ParsedText) -> Iterator[Finding]:
    """What is said where nobody looks: the hiding counts, and so does what is hidden."""
    open_weight, _ = heaviest(reading.signals)
    for one in reading.hidden:
        weight, carrying = heaviest(signals_of(one.said[:MOST_HIDDEN], QuotedSpans()))
        if one.weight == 0 and weight <= open_weight:
            continue
        if weight or one.weight >= ENOUGH:
            why = ", ".join(signal.reason for signal in carrying[:2])
            severity: Severity = "high" if one.weight + weight >= ENOUGH else "low"
            # A comment or a title is an odd place, not a disguise.
            family = "hidden" if one.weight >= ENOUGH - 1 else "aside"
            yield Finding(family, one.place, f"{one.reason}: {why}" if why else one.reason, severity)


def _advised(
    reading: ParsedText, findings: Sequence[Finding], classifier: Classifier, channel: Channel
) -> list[Finding]:
    """The findings after a second opinion, which may reject by itself or speak up against the rules."""
    opinion = _opinion(reading, classifier, channel)
    if opinion.rejects:
        sentence = quoted(without_secrets(reading.text[opinion.place : opinion.end]))
        # Of what is hidden, another finding says where and how.
        known = len(sentence) > 1
        reason = f"reads like known attacks: {sentence!r}" if known else "reads like known attacks"
        if channel in DOCUMENTS and reading.shown.excuse(reading.text, *_core(reading.text, opinion)):
            # A document may quote an attack to speak about it; quoting is not ordering.
            reason = reason.replace("reads", "quotes what reads", 1)
            return [*findings, Finding(QUOTED_ATTACK, opinion.place, reason, "low")]
        return [*findings, Finding("learned", opinion.place, reason, "high")]
    weight, _ = heaviest(signal for signal in reading.signals if not signal.shown)
    if not opinion.harmless or weight >= BEYOND_DOUBT:
        return list(findings)
    return [replace(one, severity="medium") if _is_arguable(one) else one for one in findings]


def _quoted(reading: ParsedText) -> Iterator[Finding]:
    """The first order to a model that a document quotes."""
    for start, end in islice(quoted_orders(reading), 1):
        said = quoted(without_secrets(reading.text[start:end]))
        yield Finding(QUOTED_ATTACK, start, f"quotes an order to a model: {said!r}", "low")


def _in_words(finding: Finding, text: str) -> Finding:
    """With the sentence that it is about; others say themselves what they found, or found a credential."""
    if finding.family in ("learned", "secret", "characters", QUOTED_ATTACK):
        return finding
    begin, end = max(0, finding.place - MOST_SHOWN), finding.place + MOST_SHOWN
    start = max(begin, *(text.rfind(stop, begin, finding.place) + len(stop) for stop in STOPS))
    stops = [at for at in (text.find(stop, finding.place, end) for stop in STOPS) if at >= 0]
    return replace(finding, sentence=quoted(text[start : min([*(at + 1 for at in stops), end])]))


def quoted(said: str) -> str:
    """Words of a text as a finding repeats them, on one line."""
    return " ".join(said.split())[:MOST_SHOWN]


def _core(text: str, opinion: ClassifierScore) -> tuple[int, int]:
    """Where the worst sentence stands, without the signs around it."""
    said = text[opinion.place : opinion.end]
    start = opinion.place + len(said) - len(said.lstrip(" \t\n>-*#|"))
    return start, max(start, opinion.place + len(said.rstrip(" \t\r\n.,;:")))


def _opinion(reading: ParsedText, classifier: Classifier, channel: Channel) -> ClassifierScore:
    """Of the text, of what it hides and of what rules find in both."""
    hidden = [
        Stretch(one.said[:MOST_HIDDEN], one.place, one.place + 1) for one in reading.hidden[:HIDDEN_READ]
    ]
    weight, carrying = heaviest(signal for signal in reading.signals if not signal.shown)
    places = [signal.place for signal in carrying]
    rules = rules_count(weight, reading.hidden, heaviest(reading.signals)[0])
    return classifier.read(reading.text, channel, reading.shown.all, hidden, rules, places)


def _says_little(text: str) -> bool:
    # Other scripts than Latin say much in few characters, and without spaces.
    return text.isascii() and len(text) < FEWEST_CHARACTERS and len(text.split()) < FEWEST_WORDS


def _is_arguable(finding: Finding) -> bool:
    """Whether it rests on words alone: what is disguised and what is secret is not a matter of reading."""
    return finding.severity == "high" and finding.family not in ("hidden", "secret")
