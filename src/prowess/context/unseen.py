"""Remove characters nobody sees, and keep those a script, an emoji or a coloured log needs.

Above stands the door in sanitise. Each rule is one pass with a constant replacement, so the time it
takes grows with the text and with nothing else.
"""

import re
import unicodedata

FEW = 6
"""So many stray invisible characters come from copying; more are a pattern."""

FLOOD = 50_000
"""More than any honest text of a megabyte has; nothing of such a flood is kept."""

WIDTHLESS = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
TAGS = "\U000e0000-\U000e007f"
REGION = "\U000e0030-\U000e0039\U000e0061-\U000e007a"

INVISIBLE = re.compile(f"[{WIDTHLESS}{BIDI}\u200c\u200d{SELECTORS}{TAGS}]")
# Three in a row join nothing: they spell something in the unseen.
RUN = re.compile(f"[{WIDTHLESS}{BIDI}\u200c\u200d]{{3,}}")
# A soft hyphen between syllables is how a page says where a long word may break.
HYPHENATION = r"(?<=[^\W\d_]{2})\u00ad(?=[^\W\d_]{2})"
STRAY = re.compile(f"(?!{HYPHENATION})[{WIDTHLESS}](?:(?<=[\x00-\x7f].)|(?=[\x00-\x7f]))")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
MISUSED = re.compile(
    # Overrides turn letters around; no script needs them.
    f"[\u202d\u202e\u200c\u200d{SELECTORS}{TAGS}](?:(?<=[\u202d\u202e])"
    # Joiners belong between letters of scripts that join, or between emoji.
    "|(?<=[\u200c\u200d])(?:(?<![^\x00-\x7f].)|(?![^\x00-\x7f]))"
    # A selector follows the one character it selects a form of.
    f'|(?<=[{SELECTORS}])(?:(?<=[\n -"$-)+-/:-~{SELECTORS}].)|(?<!..))'
    # Tag characters spell hidden text, except in the flags of regions.
    f"|(?<=[{TAGS}])(?:(?<![\U0001f3f4{REGION}].)|(?<![{REGION}\U000e007f])))",
    re.DOTALL,
)
DIRECTION = re.compile(f"[{BIDI}]")
TAG_CHARACTERS = "".join(map(chr, range(0xE0000, 0xE0080)))
FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
TAG_RUN = re.compile(f"\U0001f3f4?[{TAGS}]+")

ESCAPE = re.compile(
    # Colours stay unless they conceal; cursor moves, links and clipboard writes go.
    "\x1b\\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\\\)?"
    "|\x1b\\[[0-9;]{0,40}(?:8|38;5;(\\d{1,3});48;5;\\1|3(\\d);4\\2)m"
    "|\x1b\\[[34]8;([25](?:;\\d{1,3}){1,3})(?:;|m\x1b\\[)[34]8;\\3m"
    "|\x1b\\[[0-?]{0,40}[ -/]{0,4}[@-ln-~]"
    "|\x1b(?!\\[[0-9;]{0,40}m)"
)
CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")


def uncover(text: str) -> str:
    """The text without hidden characters and without orders to the terminal."""
    if "\x1b" in text:
        text = ESCAPE.sub("", text) if text.count("\x1b") < FLOOD else text.replace("\x1b", "")
    if CONTROL.search(text):
        text = CONTROL.sub("", text)
    if text.isascii() or not INVISIBLE.search(text):
        return text
    return _without_hidden(text)


def _without_hidden(text: str) -> str:
    if len(INVISIBLE.findall(text)) > FLOOD:
        return INVISIBLE.sub("", text)
    text = RUN.sub("", text)
    text = TAG_RUN.sub(_flag, MISUSED.sub("", text))
    if not RIGHT_TO_LEFT.search(text):
        text = DIRECTION.sub("", text)
    return STRAY.sub("", text) if len(STRAY.findall(text)) > FEW else text


def _flag(run: re.Match[str]) -> str:
    """A flag of a region as it is; of any other run of tag characters, only what can be seen."""
    return run[0] if FLAG.fullmatch(run[0]) else run[0].strip(TAG_CHARACTERS)


def visible(text: str) -> str:
    """The text for people: every character nobody sees by its number."""
    return "".join(f"⟦U+{ord(c):04X}⟧" if _is_unseen(c) else c for c in text)


def _is_unseen(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co")
