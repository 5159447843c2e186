"""A result cut down to the fields that were asked for, before a model reads it.

fields=["items.title", "total"]
{"items": [{"title": "a", "body": "..."}], "total": 1}   becomes   {"items": [{"title": "a"}], "total": 1}
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from prowess.calling.results import STRUCTURED, Answer, data, first_text

MAX_NAMES_SHOWN = 20

Tree = dict[str, "Tree"]


def projected(answer: Answer, fields: Iterable[str]) -> Answer:
    """The answer with these parts of its data alone; as it is, where it holds no data or is an error."""
    wanted = _tree(fields)
    value = _data(answer)
    if not wanted or answer.get("isError") or value is None:
        return answer
    cut = _cut(value, wanted)
    missing = [path for path in _paths(wanted) if not _has(value, path)]
    made = data(cut)
    if missing:
        there = ", ".join(_names(value)[:MAX_NAMES_SHOWN]) or "none"
        note = f"[not in the result: {', '.join('.'.join(path) for path in missing)}; its fields: {there}]"
        made["content"].append({"type": "text", "text": note})
    if STRUCTURED in answer:
        made[STRUCTURED] = cut
    return {**{key: one for key, one in answer.items() if key not in (STRUCTURED, "content")}, **made}


def _data(answer: Answer) -> Any:
    if answer.get(STRUCTURED) is not None:
        return answer[STRUCTURED]
    try:
        value = json.loads(first_text(answer))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _tree(fields: Iterable[str]) -> Tree:
    tree: Tree = {}
    for path in fields:
        at = tree
        for part in filter(None, path.split(".")):
            at = at.setdefault(part, {})
    return tree


def _paths(tree: Tree, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not tree:
        return [before] if before else []
    return [path for name, below in tree.items() for path in _paths(below, (*before, name))]


def _cut(value: Any, wanted: Tree) -> Any:
    if not wanted:
        return value
    if isinstance(value, list):
        return [_cut(one, wanted) for one in value]
    if isinstance(value, Mapping):
        return {name: _cut(value[name], below) for name, below in wanted.items() if name in value}
    return value


def _has(value: Any, path: tuple[str, ...]) -> bool:
    if isinstance(value, list):
        return not value or any(_has(one, path) for one in value)
    if not path:
        return True
    return isinstance(value, Mapping) and path[0] in value and _has(value[path[0]], path[1:])


def _names(value: Any) -> list[str]:
    if isinstance(value, list):
        return _names(value[0]) if value else []
    return [str(name) for name in value] if isinstance(value, Mapping) else []
