"""The text of a condition, read: a small part of Python's expressions, of which nothing is ever executed.

Python's own parser makes a tree of it; whatever the tree holds beyond this part is an error that names it.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from prowess.errors import PolicyError, nearest

MAX_CONDITION_LENGTH = 1000
MAX_NODES = 200
CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None}
EVERY_ARGUMENT = "arguments"
"""Stands for all of them, so that odd names can be reached: `arguments["to-list"]`."""

ARITY: Mapping[str, tuple[int, int]] = {
    "has": (1, 1), "size": (1, 1), "lower": (1, 1), "host": (1, 1), "only": (2, 50), "under": (2, 50),
}  # fmt: skip
"""Function -> the fewest and the most arguments it takes."""

_KNOWN = (
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Name, ast.Load),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
    *(ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Attribute, ast.Subscript, ast.Call),
)
_HOW = "compare arguments (amount <= 100, to in [...]), join with and, or, not, or call one of: " + ", ".join(
    sorted(ARITY)
)


@lru_cache(maxsize=1024)
def parsed(text: str, place: str = "condition") -> ast.expr:
    """The tree of a condition. Raises `PolicyError` where the text is none."""
    if not text or len(text) > MAX_CONDITION_LENGTH:
        raise PolicyError(place, f"a condition has 1 to {MAX_CONDITION_LENGTH} characters", "shorten it")
    if "\\" in text:
        raise PolicyError(place, f"when: {text[:80]!r} has a backslash", "write '/' between folders")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as failure:
        why = getattr(failure, "msg", "") or "it is nested too deeply"
        raise PolicyError(place, f"when: {text[:80]!r} is no condition ({why})", _HOW) from None
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        raise PolicyError(place, f"when: {text[:80]!r} has more than {MAX_NODES} parts", "split the rule")
    for node in nodes:
        _refuse(node, text, place)
    if not isinstance(tree, ast.BoolOp | ast.UnaryOp | ast.Compare | ast.Call | ast.Name | ast.Attribute):
        raise PolicyError(place, f"when: {text[:80]!r} is a value and no condition", _HOW)
    return tree


def argument_names(tree: ast.expr) -> tuple[str, ...]:
    """The arguments it looks at, in order."""
    return tuple(dict.fromkeys(_names(tree)))


def _names(tree: ast.expr) -> Iterator[str]:
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id="arguments"), slice=ast.Constant(value=str() as name)):
                yield name
            case ast.Name() if id(node) not in functions and node.id not in (*CONSTANTS, EVERY_ARGUMENT):
                yield node.id


def _refuse(node: ast.AST, text: str, place: str) -> None:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            if name not in ARITY:
                close = nearest(name, ARITY)
                remedy = f"did you mean {close}(...)?" if close else _HOW
                raise PolicyError(place, f"when: there is no function {name}()", remedy)
            fewest, most = ARITY[name]
            if node.keywords or not fewest <= len(node.args) <= most:
                many = f"{fewest}" if fewest == most else f"{fewest} or more"
                raise PolicyError(place, f"when: {name}() takes {many} arguments", "correct the call")
            return
        case ast.Subscript(slice=ast.Constant(value=str() | int())):
            return
        case ast.Constant(value=str() | int() | float() | None):
            return
        case ast.Subscript() | ast.Constant() | ast.Call():
            pass
        case _ if isinstance(node, _KNOWN):
            return
    part = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
    raise PolicyError(place, f"when: {part[:60]} is not supported in {text[:80]!r}", _HOW)
