"""What attacks say: families of patterns, from `attack_patterns.toml` and `languages.toml` beside this file.

Above stands signals, which weighs them; no single pattern decides except the strongest, because honest
tool texts are imperative too.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SAYINGS = Path(__file__).with_name("attack_patterns.toml")
LANGUAGES = Path(__file__).with_name("languages.toml")

EVERYWHERE = ("void", "prompt", "free", "unasked", "voice", "prefer")
"""Signs in `languages.toml` that belong to no one language."""

WORD = re.compile(r"<([A-Z_]+)>")
GAP = r"[^.\n\u3002\uff01\uff1f\u061f\u0964]{0,45}?"
WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class AttackPattern:
    family: str
    weight: int
    reason: str
    written: str

    @property
    def expression(self) -> re.Pattern[str]:
        """Made when a text is first held against it: those of most languages no text ever is."""
        return _compiled(self.written)


_compiled = cache(re.compile)


@dataclass(frozen=True, slots=True)
class Language:
    """A language's patterns, and the words without which none of them can match."""

    needed: re.Pattern[str]
    patterns: tuple[AttackPattern, ...]


@cache
def english() -> tuple[AttackPattern, ...]:
    """Patterns over text in plain Latin letters."""
    held = tomllib.loads(SAYINGS.read_text(encoding="utf-8"))
    words: dict[str, str] = held["words"]
    return tuple(
        AttackPattern(said["family"], said["weight"], said["reason"], _spelled(said["pattern"], words))
        for said in held["saying"]
    )


def _spelled(pattern: str, words: dict[str, str]) -> str:
    while WORD.search(pattern):
        pattern = WORD.sub(lambda word: words[word[1]], pattern)
    return pattern


@cache
def foreign() -> tuple[Language, ...]:
    """The two sayings no honest text needs, in other languages, over text in its own letters."""
    held = tomllib.loads(LANGUAGES.read_text(encoding="utf-8"))
    everywhere = held.pop("any")
    states = held.pop("state")
    sends = _either("sink", 1, "sends something to an address", everywhere["send"], everywhere["target"])
    says = _either("override", 3, "tells the model what to say instead", states["drop"], states["say"])
    alike = [_in_every_language(held.pop(name)) for name in EVERYWHERE]
    languages = [_language(name, words) for name, words in held.items()]
    common = [
        Language(re.compile(everywhere["target"]), (sends,)),
        Language(re.compile(states["drop"]), (says,)),
        *alike,
    ]
    return (*common, *languages)


def _in_every_language(said: dict[str, str]) -> Language:
    """A sign that attacks of all languages share, by two words that stand close together."""
    pattern = _either(said["family"], 2, said["reason"], said["one"], said["other"])
    return Language(re.compile(said["one"]), (pattern,))


def _language(name: str, words: dict[str, str]) -> Language:
    drops, hides = "tells the model to drop its instructions", "asks for secrecy towards the user"
    dropping = _either("override", 3, f"{drops} ({name})", words["drop"], words["orders"])
    hiding = _either("secrecy", 2, f"{hides} ({name})", words["silence"], words["person"])
    return Language(re.compile(f"{words['orders']}|{words['person']}"), (dropping, hiding))


def _either(family: str, weight: int, reason: str, one: str, other: str) -> AttackPattern:
    """Both words close together, in either order, because languages differ in it."""
    edge = "" if WITHOUT_SPACES.search(one + other) else r"(?<!\w)"
    text = rf"{edge}(?:{one}){GAP}{edge}(?:{other})|{edge}(?:{other}){GAP}{edge}(?:{one})"
    return AttackPattern(family, weight, reason, text)
