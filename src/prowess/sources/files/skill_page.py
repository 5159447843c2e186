"""The page of a skill, read as it is found: what can be understood is, and the rest is said once.

Above: the source of skills. Below: `fields`. Other systems write what prowess needs at the top level, under
`metadata`, or one level deeper under a name of their own; in snake_case, camelCase or kebab-case. Only a page
without a description, or that is no YAML, is refused.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from unicodedata import normalize

from prowess.errors import SourceError, nearest
from prowess.sources.files.fields import LONGEST_NAME, MOST_ITEMS, Fields, snake
from prowess.sources.files.normalise import LONGEST_EXAMPLE, VARIABLE, default_category, title
from prowess.text.values import Json, quoted
from prowess.types import EXAMPLES, JsonObject, Problem

SPECIFIED = ("name", "description", "license", "compatibility", "metadata", "allowed_tools")
READ_TOO = (
    *("display_name", "category", "tags", "keywords", "required_tools", "requires_tools", "required_secrets"),
    *("requires_secrets", "requires", "has_side_effects", "version", "author", "homepage", "namespace"),
    *("tools_required", "optional_secrets", EXAMPLES),
)
LONGEST_SKILL_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500

_DOTTED = re.compile(r"[A-Za-z][A-Za-z-]{0,23}(\.[A-Za-z][A-Za-z-]{0,23}){1,3}\Z")
_ALLOWED_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


@dataclass(slots=True)
class SkillPage:
    """The fields of one SKILL.md, and what is doubtful about them."""

    fields: Fields
    folder: str
    """The name of the folder it lies in."""
    doubts: list[str] = field(default_factory=list)

    def problem(self, source: str) -> tuple[Problem, ...]:
        """Everything doubtful, in one warning."""
        if not self.doubts:
            return ()
        what = f"is read, but: {'; '.join(self.doubts)}"
        return (Problem(source, self.fields.place, what, "mend it where it is yours", "warning"),)

    def name(self) -> str:
        written = self._line(self.fields.raw("name"))
        name = _slug(written) or _slug(self.folder)
        if not name:
            raise self.fields.error("neither its name nor its folder has a letter or digit", "rename it")
        if not written:
            self.doubts.append(f"it has no name, so it goes by its folder, {name!r}")
        elif name != written:
            self.doubts.append(f"the name {quoted(written)} is no skill's name, so it goes by {name!r}")
        elif name != self.folder:
            self.doubts.append(f"the name {name!r} is not the name of its folder, {quoted(self.folder)}")
        return name

    def display_name(self, name: str) -> str:
        written = self._line(self.fields.raw("name"))
        return self._line(self._first("display_name")) or (
            title(name) if _slug(written) == written else written
        )

    def description(self) -> str:
        text = self.fields.required("description", limit=2**20)
        if len(text) <= LONGEST_DESCRIPTION:
            return text
        self.doubts.append(f"its description has {len(text)} characters and is cut to {LONGEST_DESCRIPTION}")
        return text[: LONGEST_DESCRIPTION - 1].rsplit(maxsplit=1)[0] + "…"

    def category(self) -> str:
        return self._line(self._first("category"))[:64] or default_category("skill")

    def tags(self) -> tuple[str, ...]:
        return self._words("tags", self._first("tags", "keywords"))

    def required_tools(self) -> tuple[str, ...]:
        """Tools and programs; what `requires` lists is there as well."""
        plain = self._words(
            "required tools", self._first("required_tools", "requires_tools", "tools_required")
        )
        listed = [self._words("requires", self._required(key)) for key in ("tools", "bins")]
        return tuple(dict.fromkeys((*plain, *(word for words in listed for word in words))))

    def required_secrets(self) -> tuple[str, ...]:
        plain = self._words("required secrets", self._first("required_secrets", "requires_secrets"))
        listed = [self._words("requires", self._required(key)) for key in ("secrets", "env")]
        names = dict.fromkeys((*plain, *(word for words in listed for word in words)))
        names = dict.fromkeys(map(_variable, names))
        good = tuple(name for name in names if VARIABLE.match(name))
        if len(good) < len(names):
            # They are not shown: somebody may have written the secret itself.
            self.doubts.append("a required secret is not the name of an environment variable")
        return good

    def side_effects(self) -> bool:
        return self._first("has_side_effects") is True

    def metadata(self) -> dict[str, Json]:
        raw = self.fields.raw("metadata")
        if raw is not None and not isinstance(raw, Mapping):
            self.doubts.append("'metadata' is no mapping")
        found: dict[str, Json] = dict(raw) if isinstance(raw, Mapping) else {}
        for key in ("license", "version", "author", "homepage"):
            if text := self._line(self.fields.raw(key))[:500]:
                found[key] = text
        if examples := self._sentences("examples", self._first(EXAMPLES)):
            found[EXAMPLES] = list(examples)
        if compatibility := self._line(self.fields.raw("compatibility")):
            found["compatibility"] = compatibility[:LONGEST_COMPATIBILITY]
        if allowed := self._allowed_tools():
            found["allowed_tools"] = list(allowed)
        return found

    def note_unknown(self) -> None:
        """Name every key that nothing reads, with the one it may be meant as."""
        strange = self.fields.strangers((*SPECIFIED, *READ_TOO))
        if strange:
            named = ", ".join(_meant(key) for key in strange[:10])
            self.doubts.append(f"unknown {'key' if len(strange) == 1 else 'keys'} {named}")

    def _allowed_tools(self) -> tuple[str, ...]:
        raw = self.fields.raw("allowed_tools")
        if isinstance(raw, list):
            return self._words("allowed-tools", raw)
        return tuple(dict.fromkeys(_ALLOWED_TOOL.findall(self._line(raw))))

    # --- where it may stand ----------------------------------------------------------------------

    def _layers(self) -> Iterator[Fields]:
        """The page itself, its metadata, and what other systems keep in that under their own name."""
        yield self.fields
        metadata = self.fields.raw("metadata")
        if isinstance(metadata, Mapping):
            yield self._read(metadata)
            for inner in metadata.values():
                if isinstance(inner, Mapping):
                    yield self._read(inner)

    def _read(self, values: JsonObject) -> Fields:
        try:
            return Fields(self.fields.place, {key: v for key, v in values.items() if isinstance(key, str)})
        except SourceError as error:
            self.doubts.append(error.what)
            return Fields(self.fields.place, {})

    def _first(self, *names: str) -> Json:
        found = (layer.raw(name) for layer in self._layers() for name in names)
        return next((value for value in found if value is not None), None)

    def _required(self, key: str) -> Json:
        for layer in self._layers():
            requires = layer.raw("requires")
            value: Json = requires.get(key) if isinstance(requires, Mapping) else None
            if value is not None:
                return value
        return None

    def _line(self, value: Json) -> str:
        """A text on one line; a number is one, and so is a text of many lines."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return " ".join(normalize("NFC", value).split()) if isinstance(value, str) else ""

    def _sentences(self, what: str, value: Json) -> tuple[str, ...]:
        """A list of texts on one line each; one text is a list of one."""
        listed = [value] if isinstance(value, str) else value
        if listed is None:
            return ()
        if not isinstance(listed, list):
            self.doubts.append(f"{what} is no list")
            return ()
        lines = [self._line(one) for one in listed[:MOST_ITEMS]]
        good = [line for line in lines if 0 < len(line) <= LONGEST_EXAMPLE and line.isprintable()]
        if len(good) < len(lines):
            self.doubts.append(f"an item of {what} is no text of at most {LONGEST_EXAMPLE} characters")
        return tuple(dict.fromkeys(good))

    def _words(self, what: str, value: Json) -> tuple[str, ...]:
        """A list of short texts, which may also be one text with commas or spaces."""
        listed = re.split(r"[,\s]+", value) if isinstance(value, str) else value
        if listed is None:
            return ()
        if not isinstance(listed, list):
            self.doubts.append(f"{what} is no list")
            return ()
        words = [self._line(word) for word in listed[:MOST_ITEMS] if word not in ("", None)]
        good = [word for word in words if 0 < len(word) <= LONGEST_NAME and word.isprintable()]
        if len(good) < len(words):
            self.doubts.append(f"an item of {what} is no short text")
        return tuple(dict.fromkeys(good))


def _variable(name: str) -> str:
    """`openai.apiKey`, as some systems name a secret, is OPENAI_API_KEY."""
    return snake(name).replace(".", "_").upper() if _DOTTED.match(name) else name


def _slug(text: str) -> str:
    """A name as the specification wants one."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:LONGEST_SKILL_NAME].strip("-")


def _meant(key: str) -> str:
    close = nearest(key.replace("-", "_").lower(), SPECIFIED)
    return f"{quoted(key)} (did you mean {close.replace('_', '-')!r}?)" if close else quoted(key)
