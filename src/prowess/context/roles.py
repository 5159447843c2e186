"""Role markers, role tags and template tokens: whatever pretends to be another voice in the conversation.

Above stands the door in sanitise; below are characters, which looks through disguises, and quoting,
which knows code. All patterns run on folded text, so they name plain lower-case letters only.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from prowess.context.characters import SIGNS as DOUBLES
from prowess.context.characters import Folded, flattened, fold
from prowess.context.quoting import Spans, code

Form = Literal["marker", "tag", "token"]

ROLE = r"(?:user|assistant|system|human|developer)"
FORGED = (
    r"(?:system|developer|assistant|admin(?:istrator)?)[ _-]?"
    r"(?:reminder|prompt|message|mode|instructions?|override|note|notice|command|update|directive|policy)s?"
)
# Each begins with one fixed character: the search then skips a megabyte in a few milliseconds.
MARKER = re.compile(r"\n[ \t]{0,3}(user|assistant|system)[ \t]{0,8}:")
HUMAN = re.compile(r"\n[ \t]{0,3}(human)[ \t]{0,8}:")
GAP = r"[ \t\n]{0,8}"
ATTRIBUTE = r"[ \t\n]{1,8}[a-z_:-]{1,30}=(?:\"[^\"<>\n]{0,80}\"|'[^'<>\n]{0,80}'|[\w.-]{1,40})"
TAG = re.compile(
    rf"<(?:{GAP}[/\\]?{GAP}(?:{ROLE}|{FORGED}){GAP}/?{GAP}>"
    rf"|[ \t]{{0,8}}(?:{ROLE}|{FORGED})(?:{ATTRIBUTE}){{1,6}}[ \t]{{0,8}}>)"
)
ANGLED = re.compile(
    r"<(?: ?\| ?/?[a-z][\w .:/-]{0,40}?(?: ?\| ?>|$)"
    r"|</?sys>>"
    r"|/?(?:start_of_turn|end_of_turn|start_of_image|end_of_sequence|bos|eos|unk|pad)>"
    r"|/?(?:tool_call|tool_response|function_calls|tool_results?|function_results?)>"
    r"|s>(?=\s{0,8}(?:\[inst\]|<<sys>>))|/s>(?=\s{0,8}(?:<s>|\[inst\])))"
)
BRACKETED = re.compile(r"\[/?(?:inst|available_tools|tool_calls|tool_results|tool_content|system_prompt)\]")

FLOOD = 4000
SIGNS = 100_000
ENTITIES = 30_000
"""More than any honest text has: such a text is flattened, because mending it place by place is slow."""
FLATTENING = str.maketrans({"<": "(", ">": ")", "[": "(", "]": ")", "|": "/", ":": ";", "`": "'", "&": "+"})

FORMS: tuple[tuple[Form, str, re.Pattern[str]], ...] = (
    ("tag", "<", TAG),
    ("token", "<", ANGLED),
    ("token", "[", BRACKETED),
)

LONGEST_STRING = 400
STRING = re.compile(r"(?<!\w)[fr]?\"(?=[^\"\n]{0,300}[{%]{1,2} ?[a-z])[^\"\n]{4,400}\"")
QUOTE_BEFORE = "\"'`\u201c\u2018\xab"
QUOTE_AFTER = "\"'`\u201d\u2019\xbb"


@dataclass(frozen=True, slots=True)
class Forgery:
    """One place where a text speaks in another voice."""

    form: Form
    start: int
    end: int
    name: str


def forgeries(text: str) -> tuple[Forgery, ...]:
    """Every role marker, role tag and template token, in order, also those in code."""
    folded = fold(text)
    found = _markers(folded)
    for form, sign, pattern in FORMS:
        if sign in folded.text:
            found += [_forgery(form, folded, match) for match in _first(pattern, folded.text)]
    return tuple(sorted(found, key=lambda f: (f.start, -f.end)))


def _first(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    return islice(pattern.finditer(text), FLOOD + 1)


def _markers(folded: Folded) -> list[Forgery]:
    # A line break in front, so that the first line begins like every other.
    text = f"\n{folded.text}"
    found = [_marker(folded, match) for match in _first(MARKER, text)]
    if any(forgery.name.startswith("assistant") for forgery in found):
        found += [_marker(folded, match) for match in _first(HUMAN, text)]
    return found


def _marker(folded: Folded, match: re.Match[str]) -> Forgery:
    start, end = folded.span(match.start(1) - 1, match.end() - 1)
    return Forgery("marker", start, end, match[0].strip())


def _forgery(form: Form, folded: Folded, match: re.Match[str]) -> Forgery:
    start, end = folded.span(match.start(), match.end())
    return Forgery(form, start, end, match[0].strip())


def silence(text: str) -> str:
    """The text without any other voice outside code: markers in brackets, tags and tokens gone."""
    if text.count("<") > SIGNS or text.count("&") > ENTITIES or _disguised(text) > ENTITIES:
        return flatten(text)
    found = forgeries(text)
    if len(found) > FLOOD:
        return flatten(text)
    shown = code(text) if found else Spans()
    parts: list[str] = []
    at = 0
    for forgery in found:
        if forgery.start < at or stays(text, forgery, shown):
            continue
        parts += [text[at : forgery.start], _replacement(text, forgery)]
        at = forgery.end
    return "".join([*parts, text[at:]])


def _disguised(text: str) -> int:
    """How many signs only look like an angle bracket."""
    return 0 if text.isascii() else sum(map(text.count, DOUBLES["<"]))


def flatten(text: str) -> str:
    """Plain lower-case letters without the signs that could make a voice; nothing in it can rejoin."""
    return text.translate(FLATTENING).lower() if text.isascii() else flattened(text, FLATTENING)


def stays(text: str, forgery: Forgery, shown: Spans) -> bool:
    """In code everything stays; elsewhere a component of markup, and a token quoted by itself."""
    if shown.hold(forgery.start, forgery.end):
        return True
    original = text[forgery.start : forgery.end]
    if forgery.form == "marker":
        return _indented_key(text, forgery)
    if forgery.form == "tag":
        return original.isascii() and "=" in original and original[1].isupper() and not original[2].isupper()
    before, after = text[forgery.start - 1 : forgery.start], text[forgery.end : forgery.end + 1]
    quoted = bool(before and after) and before in QUOTE_BEFORE and after in QUOTE_AFTER
    return quoted or _in_template(text, forgery)


def _in_template(text: str, forgery: Forgery) -> bool:
    """Whether it stands in a string with placeholders, as in code that builds a prompt."""
    line = text.rfind("\n", max(0, forgery.start - LONGEST_STRING), forgery.start) + 1
    start = max(line, forgery.start - LONGEST_STRING)
    end = text.find("\n", forgery.end, forgery.end + LONGEST_STRING)
    end = end if end >= 0 else min(len(text), forgery.end + LONGEST_STRING)
    strings = STRING.finditer(text, start, end)
    return any(one.start() < forgery.start and forgery.end < one.end() for one in strings)


def _indented_key(text: str, forgery: Forgery) -> bool:
    """Whether it is a lower-case key below another one, as in YAML, and not a speaker."""
    indented = text[forgery.start - 1 : forgery.start] in (" ", "\t")
    return indented and text[forgery.start : forgery.end].islower()


def _replacement(text: str, forgery: Forgery) -> str:
    if forgery.form != "marker":
        return ""
    word = text[forgery.start : forgery.end]
    return f"[{_word(word)}]:"


def _word(marker: str) -> str:
    """The role as it was written, where that is plain; its plain name where it is disguised."""
    word = marker[:-1].rstrip()
    return word if word.isascii() and word.isalpha() else fold(word).text.rstrip(" :")
