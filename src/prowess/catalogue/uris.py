"""URIs of resources: which of them mean the same, and which a template (RFC 6570) stands for.

Servers read URIs in their own ways: one decodes `%70`, another drops a query it does not know. Where it
matters who may read something, two URIs count as the same if any server could take them for the same.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

LONGEST_URI = 8192
LONGEST_TEMPLATE = 2048
MOST_EXPRESSIONS = 32
MOST_DECODINGS = 4
"""How often a URI may have been encoded upon encoding; one that is still encoded then is not read."""

_USUAL_PORT = re.compile(r"^(https?:)(//[^/?#]*?):(?:80|443)?(?=[/?#]|$)")
_USER = re.compile(r"^([^:/?#]*:/*)[^/?#@]*@")
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(r"(?P<name>(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})+)(?P<more>\*|:[1-9][0-9]{0,3})?")

Specificity = tuple[int, int, int]


# --- what means the same -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NormalizedUri:
    """A URI with everything taken away that a server may take away."""

    path: str
    query: frozenset[str] = frozenset()

    def may_mean(self, other: "NormalizedUri") -> bool:
        """Whether a server that skips what it does not know could read the other for this."""
        return self.path == other.path and other.query <= self.query


@lru_cache(maxsize=20_000)
def address(uri: str) -> NormalizedUri:
    text = _USER.sub(r"\1", _USUAL_PORT.sub(r"\1\2", _folded(uri).partition("#")[0]))
    place, _, query = text.partition("?")
    scheme, _, rest = place.partition(":")
    parts = [part.partition(";")[0] for part in rest.split("/")]
    path = "/".join(part for part in parts if part not in ("", "."))
    return NormalizedUri(f"{scheme}:{path}", frozenset(one for one in query.split("&") if one))


def _folded(text: str) -> str:
    """Whatever a server may decode, fold or skip in a text is decoded, folded and skipped."""
    text = unicodedata.normalize("NFKC", _decoded(text)).casefold().replace("\\", "/")
    return "".join(letter for letter in text if letter.isprintable() and not letter.isspace())


def is_plain(uri: str) -> bool:
    """Whether it can be read in one way only: nothing in it climbs, hides or is encoded without end."""
    text = _decoded(uri)
    if len(uri) > LONGEST_URI or _decoded(text) != text or not text.isprintable():
        return False
    return not {".", ".."} & set(re.split(r"[:/\\?#;]", text))


def _decoded(uri: str) -> str:
    for _ in range(MOST_DECODINGS):
        plain = unquote(uri, errors="replace")
        if plain == uri:
            break
        uri = plain
    return uri


# --- templates -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """A literal, or an expression with its operator and the names of its variables."""

    text: str = ""
    operator: str = ""
    names: tuple[str, ...] = ()
    is_many: bool = False
    """Whether one of its variables may be a list with every item set apart."""

    def ends(self, uri: str, starts: set[int]) -> set[int]:
        """Where this part may end if it begins at one of these places."""
        if not self.names:
            return {at + len(self.text) for at in starts if uri.startswith(self.text, at)}
        match self.operator:
            case "?" | "&":
                return starts | {end for at in starts for end in self._query(uri, at)}
            case "" | "+":
                return _runs(uri, starts, "" if self.operator else "/?#&")
            case "#":
                return starts | _runs(uri, _after(uri, starts, "#"), "")
            case "/":
                return self._repeated(uri, starts, "/", "/?#")
            case ".":
                return self._repeated(uri, starts, ".", "./?#")
        return self._repeated(uri, starts, ";", ";/?#")

    def _repeated(self, uri: str, starts: set[int], lead: str, stops: str) -> set[int]:
        if self.is_many:
            return starts | _runs(uri, _after(uri, starts, lead), stops.replace(lead, ""))
        found = set(starts)
        for _ in self.names:
            found |= _runs(uri, _after(uri, found, lead), stops)
        return found

    def _query(self, uri: str, at: int) -> Iterator[int]:
        if not uri.startswith(self.operator, at):
            return
        end = uri.find("#", at) if "#" in uri[at:] else len(uri)
        given = [one.partition("=")[0] for one in uri[at + 1 : end].split("&")]
        if self.is_many or (len(set(given)) == len(given) and set(given) <= set(self.names)):
            yield end


@dataclass(frozen=True, slots=True)
class Template:
    text: str
    parts: tuple[_Part, ...]

    def matches(self, uri: str) -> bool:
        """Whether the template can become this URI; the time is linear in the length of both."""
        if len(uri) > LONGEST_URI:
            return False
        places = {0}
        for part in self.parts:
            places = part.ends(uri, places)
            if not places:
                return False
        return len(uri) in places

    def may_mean(self, uri: str) -> bool:
        """Whether a server could take this URI for one that the template becomes."""
        return Template(self.text, self._folded).matches(address(uri).path)

    @property
    def _folded(self) -> tuple[_Part, ...]:
        """Its parts as the path of an address has them."""
        kept: list[_Part] = []
        for part in self.parts:
            text, query, _ = _folded(part.text).partition("?")
            if not kept:
                text = re.sub(r":/+", ":", _USER.sub(r"\1", _USUAL_PORT.sub(r"\1\2", text)))
            text = re.sub(r"/(?:\.?/)+", "/", text)
            if part.names or text:
                kept.append(part if part.names else _Part(text))
            if query or part.operator in ("?", "#"):
                break
        if kept and not kept[-1].names:
            kept[-1] = _Part(kept[-1].text.rstrip("/"))
        return tuple(kept)

    @property
    def shape(self) -> str:
        """The template without the names of its variables."""
        return "".join(f"{{{part.operator}}}" if part.names else part.text for part in self.parts)

    @property
    def specificity(self) -> Specificity:
        """The more a template says itself and the less it leaves open, the greater."""
        open_parts = [part for part in self.parts if part.names]
        wide = sum(part.operator in ("+", "#") or part.is_many for part in open_parts)
        return (sum(len(part.text) for part in self.parts), -wide, -len(open_parts))

    @property
    def sample(self) -> str:
        """A URI it becomes, of values that no other template would name."""
        return "".join(_sample(part) if part.names else part.text for part in self.parts)

    def covers(self, other: "Template") -> bool:
        return self.matches(other.sample)


@lru_cache(maxsize=5_000)
def template(text: str) -> Template | None:
    """A template ready to match; none for what is not one, which stands for nothing."""
    if len(text) > LONGEST_TEMPLATE:
        return None
    parts: list[_Part] = []
    done = 0
    for found in _EXPRESSION.finditer(text):
        parts.append(_Part(text[done : found.start()]))
        part = _expression(found[1], found[2])
        if part is None or len(parts) > 2 * MOST_EXPRESSIONS:
            return None
        parts = [*parts[:-2], *_joined(parts[-2:], part)]
        done = found.end()
    parts.append(_Part(text[done:]))
    kept = tuple(part for part in parts if part.names or part.text)
    return None if any(set(part.text) & set("{}") for part in kept) else Template(text, kept)


def _expression(operator: str, variables: str) -> _Part | None:
    found = [_VARIABLE.fullmatch(one) for one in variables.split(",")]
    if not all(found):
        return None
    names = tuple(one["name"] for one in found if one)
    return _Part("", operator, names, any(one["more"] == "*" for one in found if one))


def _joined(before: list[_Part], part: _Part) -> Iterable[_Part]:
    """`{?a}{&b}` is one query, whichever of the two is there."""
    if len(before) == 2 and before[0].operator == "?" and part.operator == "&" and not before[1].text:
        return (_Part("", "?", before[0].names + part.names, before[0].is_many or part.is_many),)
    return (*before, part)


def _after(uri: str, starts: set[int], lead: str) -> set[int]:
    return {at + 1 for at in starts if uri.startswith(lead, at)}


def _runs(uri: str, starts: set[int], stops: str) -> set[int]:
    """Every place that can be reached from these over letters that are none of the stops."""
    found: set[int] = set()
    for start in sorted(starts):
        at = start
        while at not in found:
            found.add(at)
            if at >= len(uri) or uri[at] in stops:
                break
            at += 1
    return found


def _sample(part: _Part) -> str:
    value = "x~0/y~0" if part.operator == "+" or (part.is_many and part.operator == "/") else "x~0"
    match part.operator:
        case "?" | "&":
            return f"{part.operator}{part.names[0]}={value}"
        case "" | "+":
            return value
    return f"{part.operator}{value}"
