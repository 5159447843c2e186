"""Role markers, role tags and template tokens: whatever pretends to be another voice in the conversation.

Above stands `sanitise`; below are characters, which looks through disguises, and quoting,
which knows code. All patterns run on folded text, so they name plain lower-case letters only.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from prowess.guard.quotations import Spans, code
from prowess.text.characters import SIGNS as DOUBLES
from prowess.text.characters import Folded, flattened, fold

Form = Literal["marker", "tag", "token"]

ROLE = r"(?:user|assistant|system|human|developer)"
FORGED = (
    r"(?:system|developer|assistant|admin(?:istrator)?)[ \t\n_-]*+"
    r"(?:reminder|prompt|message|mode|instructions?|override|note|notice|command|update|directive|policy)s?"
)
# Each begins with one fixed character: the search then skips a megabyte in a few milliseconds.
MARKER = re.compile(r"\n[ \t]{0,3}(user|assistant|system)[ \t]*+:")
HUMAN = re.compile(r"\n[ \t]{0,3}(human)[ \t]*+:")
ANSWERED = re.compile(r"\n[ \t]{0,3}\[assistant\]:")

# No loop here gives back what it took, and none passes over a "<": each place is read once.
GAP = r"[ \t\n]*+"
END = rf"{GAP}/?{GAP}>"
VALUE = rf"{GAP}={GAP}(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'<>]++)"
# A word without a value is an attribute only where HTML says so: `<user name>` asks for a name.
ATTRIBUTES = rf"(?:[ \t\n]++(?:[\w:.@-]++{VALUE}|(?:hidden|inert|disabled|readonly|required|async|defer)\b))"
TOOL = r"(?:antml:)?(?:tool_call|tool_response|function_calls|tool_results?|function_results?)"
PIPED = (
    rf"(?:(?:im|start|end|begin|eot|eom|header|python|fim|tool|user|system|chatbot)(?:{GAP}_{GAP}[a-z]++)++"
    rf"|endoftext|{ROLE})"
)
TURN = r"(?:turn|channel|think|tool|tool_call|tool_response|image|audio)"
ANGLED = re.compile(
    r"<[ \t\n/\\]*+(?:"
    rf"(?P<tag>(?:{FORGED}|{ROLE})(?:{END}|{ATTRIBUTES}++{GAP}>))"
    rf"|\|(?:{GAP}/?{GAP}{PIPED}{GAP}\|{GAP}>|(?<=<\|)/?[a-z][\w .:/-]{{0,40}}?(?<! )\|>|{TURN}>|{PIPED}\Z)"
    rf"|{TURN}\|>"
    rf"|<[ \t\n/\\]*+sys{GAP}>{GAP}>"
    r"|(?:start_of_turn|end_of_turn|start_of_image|end_of_sequence|(?:bos|eos)(?:_token)?|unk|pad|[se]op)"
    rf"{GAP}>"
    rf"|{TOOL}{ATTRIBUTES}*+{END}|(?:antml:)?invoke(?:{ATTRIBUTES}++{END}|(?<=/invoke){GAP}>)"
    rf"|(?<=<)s>(?=\s{{0,8}}(?:\[inst\]|<<sys>>))|(?<=/)s{GAP}>)"
)
BRACKETED = re.compile(
    r"\[[ \t\n/\\]*+(?:(?:inst|available_tools|tool_calls|tool_results|tool_content|system_prompt"
    rf"|model_settings|think|gmask){GAP}\]|call_id\](?=\w)|args\](?=\s{{0,8}}\{{))"
)

FLOOD = 4000
SIGNS = 100_000
ENTITIES = 30_000
"""More than any honest text has: such a text is flattened, because mending it place by place is slow."""
FLATTENING = str.maketrans({"<": "(", ">": ")", "[": "(", "]": ")", "|": "/", ":": ";", "`": "'", "&": "+"})

SIGNED = (("<", ANGLED), ("[", BRACKETED))

LONGEST_STRING = 400
STRING = re.compile(r"(?<!\w)[fr]?\"(?=[^\"\n]{0,300}[{%]{1,2} ?[a-z])[^\"\n]{4,400}\"")
QUOTES = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019", "\xab": "\xbb"}
SLOT = re.compile(r"(?:system|user|assistant)?(?:\\n)?[{\"]")
COMPONENT = re.compile(r"<[A-Z][a-z]+[ \t\n][^<]*=")
NAMED_GROUP = re.compile(r"\(\?P?<[a-z]+>[^\s()<>]{0,80}[\\\]+*.?][^\s()<>]{0,80}\)")
ANGLE_QUOTED = re.compile("\u2039[ \u00a0\u202f]?[A-Za-z]+[ \u00a0\u202f]?\u203a")
STRUCK = 2000
"""How far back the beginning of struck-out text is looked for."""


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
    for sign, pattern in SIGNED:
        if sign in folded.text:
            found += [_forgery(folded, match) for match in _first(pattern, folded.text)]
    return tuple(sorted(found, key=lambda f: (f.start, -f.end)))


def _first(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    return islice(pattern.finditer(text), FLOOD + 1)


def _markers(folded: Folded) -> list[Forgery]:
    # A line break in front, so that the first line begins like every other.
    text = f"\n{folded.text}"
    found = [_marker(folded, match) for match in _first(MARKER, text)]
    # An answer that has its brackets already still shows that a conversation is forged.
    if any(forgery.name.startswith("assistant") for forgery in found) or ANSWERED.search(text):
        found += [_marker(folded, match) for match in _first(HUMAN, text)]
    return found


def _marker(folded: Folded, match: re.Match[str]) -> Forgery:
    start, end = folded.span(match.start(1) - 1, match.end() - 1)
    return Forgery("marker", start, end, match[0].strip())


def _forgery(folded: Folded, match: re.Match[str]) -> Forgery:
    start, end = folded.span(match.start(), match.end())
    return Forgery("tag" if match.lastgroup else "token", start, end, match[0].strip())


def silence(text: str) -> str:
    """The text without any other voice outside code: markers in brackets, tags and tokens gone."""
    if is_flood(text):
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


def is_flood(text: str) -> bool:
    """Whether it has more signs of voices than can be looked at one by one."""
    return text.count("<") > SIGNS or text.count("&") > ENTITIES or _disguised(text) > ENTITIES


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
        return _in_markup(original) or _in_expression(text, forgery) or _is_quoted_word(text, original)
    before, after = text[forgery.start - 1 : forgery.start], text[forgery.end : forgery.end + 1]
    quoted = bool(after) and QUOTES.get(before) == after
    return quoted or _closes_struck_text(text, forgery) or _in_template(text, forgery)


def _in_markup(tag: str) -> bool:
    return tag.isascii() and COMPONENT.match(tag) is not None


def _in_expression(text: str, forgery: Forgery) -> bool:
    """Whether it names a group of a regular expression that is closed and has no room for words."""
    start = text.rfind("(?", max(0, forgery.start - 3), forgery.start)
    group = NAMED_GROUP.match(text, start) if start >= 0 else None
    return group is not None and forgery.end < group.end()


def _is_quoted_word(text: str, tag: str) -> bool:
    """Whether it is a word in the quotation marks of Swiss print, in a text that closes no such tag."""
    return ANGLE_QUOTED.fullmatch(tag) is not None and "\u2039/" not in text


def _closes_struck_text(text: str, forgery: Forgery) -> bool:
    if forgery.name != "</s>":
        return False
    before = text[max(0, forgery.start - STRUCK) : forgery.start].lower()
    return max(before.rfind(f"<s{end}") for end in "> \t\n") > before.rfind("</s>")


def _in_template(text: str, forgery: Forgery) -> bool:
    """Whether it stands beside a placeholder in a string, as in code that builds a prompt."""
    if text[forgery.start - 1 : forgery.start] != "}" and not SLOT.match(text, forgery.end):
        return False
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
