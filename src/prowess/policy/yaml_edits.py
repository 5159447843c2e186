"""Changes to the text of a YAML file that leave every other character, comments and order too, as it was.

Above: `edits`, which knows what a profile is. Below: the parser, of which only the places of things are used;
a text that comes here was read before, within its bounds, and what comes out is read again.
"""

import json
import re
from collections.abc import Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def root(text: str) -> Node | None:
    found: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    return found


def member(mapping: Node, key: str) -> tuple[Node, Node] | None:
    """A key and its value, where the mapping has it."""
    if not isinstance(mapping, MappingNode):
        return None
    return next((pair for pair in mapping.value if pair[0].value == key), None)


def scalar(text: str) -> str:
    """A text as YAML writes it in one line."""
    plain = _PLAIN.match(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def with_member(text: str, mapping: Node, key: str, value: str) -> str:
    """The text with a key of this mapping set to a value that is written in one line."""
    there = member(mapping, key)
    if there:
        start, end = _span(text, there[1])
        blank = "" if text[start - 1].isspace() else " "
        return text[:start] + blank + value + text[end:]
    return _with_one(text, mapping, f"{scalar(key)}: {value}", "{}")


def with_item(text: str, items: Node, value: str) -> str:
    """The text with one more item, which is written in one line, at the end of a list."""
    dash = "" if _flows(items) else "- "
    return _with_one(text, items, f"{dash}{value}", "[]")


def without_member(text: str, mapping: Node, key: str) -> str:
    """The text without a key of this mapping and what it says."""
    assert isinstance(mapping, MappingNode), "it has members"
    spans = [(_span(text, one)[0], _span(text, value)[1]) for one, value in mapping.value]
    at = next(place for place, (one, _) in enumerate(mapping.value) if one.value == key)
    return _without_one(text, mapping, spans, at, "{}")


def without_item(text: str, items: Node, at: int) -> str:
    """The text without one item of a list that has others."""
    assert isinstance(items, SequenceNode), "it has items"
    return _without_one(text, items, [_span(text, one) for one in items.value], at, "[]")


def _with_one(text: str, many: Node, line: str, empty: str) -> str:
    start, end = _span(text, many)
    if isinstance(many, ScalarNode):  # a key with nothing behind it
        blank = "" if text[start - 1].isspace() else " "
        return f"{text[:start]}{blank}{empty[0]}{line}{empty[1]}{text[end:]}"
    last = many.value[-1] if many.value else None
    if _flows(many):
        if last is None:
            return f"{text[: start + 1]}{line}{text[start + 1 :]}"
        at = _end(text, last)
        return f"{text[:at]}, {line}{text[at:]}"
    at = _line_end(text, end)
    return f"{text[:at]}\n{' ' * many.start_mark.column}{line}{text[at:]}"


def _without_one(text: str, many: Node, spans: Sequence[tuple[int, int]], at: int, empty: str) -> str:
    start, end = spans[at]
    if len(spans) == 1:
        start, end = _span(text, many)
        return text[:start] + empty + text[end:]
    if _flows(many):
        if at + 1 < len(spans):
            return text[:start] + text[spans[at + 1][0] :]
        return text[: spans[at - 1][1]] + text[end:]
    first = text.rfind("\n", 0, start) + 1
    return text[:first] + text[_line_end(text, end) + 1 :]


def _flows(many: Node) -> bool:
    return bool(getattr(many, "flow_style", True))


def _span(text: str, node: Node) -> tuple[int, int]:
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, ScalarNode) or _flows(node) or not node.value:
        return start, start + len(text[start:end].rstrip()) if end > start else end
    return start, _end(text, node.value[-1])


def _end(text: str, last: object) -> int:
    """Where the last thing of a collection ends: what follows it may be blank lines and comments."""
    return _span(text, last[1] if isinstance(last, tuple) else last)[1]  # type: ignore[arg-type]


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
