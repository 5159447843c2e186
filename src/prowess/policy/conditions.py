"""What a rule says of arguments: `amount <= 100 and only(to, "*@example.com")`.

Above: patterns, which carry a condition, and `resolve`, which asks it. Below: `condition_syntax`, which reads
the text, and `argument_paths`. Every expression ends, costs what its text and the arguments are long, and has
one of three values: it holds, it does not, or it cannot be decided, because an argument is missing, is of
another type than what it is compared with, or is a path that may lead elsewhere. What cannot be decided never
allows anything, and `not` does not change that.
"""

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from prowess.policy.argument_paths import is_under
from prowess.policy.condition_syntax import CONSTANTS, EVERY_ARGUMENT, argument_names, parsed
from prowess.policy.globs import glob_matches
from prowess.policy.spelling import composed
from prowess.types import JsonObject

Arguments: TypeAlias = JsonObject | Literal["any"] | None
"""What something is used with; "any" where it is only offered; None where whoever uses it does not say."""

Truth: TypeAlias = bool | None
"""None: it cannot be decided."""


class _Unknown:
    """The value of what is not there, or has no such value."""


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Condition:
    text: str

    @classmethod
    def read(cls, text: str, place: str) -> "Condition":
        """Raises `PolicyError` where the text is no condition."""
        parsed(text.strip(), place)
        return cls(text.strip())

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments it looks at."""
        return argument_names(parsed(self.text))

    def holds(self, arguments: Arguments) -> Truth:
        """Whether it holds for these arguments; None where that cannot be decided."""
        if not isinstance(arguments, Mapping):
            return None
        try:
            return _truth(parsed(self.text), arguments)
        except RecursionError:
            return None

    def why_not(self, arguments: Arguments) -> str:
        """Why it does not hold, without any value that was given."""
        if not isinstance(arguments, Mapping):
            return "its arguments are not known"
        for part in _conjuncts(parsed(self.text)):
            held = _truth(part, arguments)
            if held is None:
                return _undecided(part, arguments)
            if not held:
                return f"{ast.unparse(part)} does not hold"
        return "it does not hold"


def _conjuncts(node: ast.expr) -> Sequence[ast.expr]:
    return node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]


def _undecided(node: ast.expr, given: JsonObject) -> str:
    missing = [name for name in argument_names(node) if name not in given]
    if missing:
        return f"{ast.unparse(node)} cannot be decided without {', '.join(missing)}"
    return f"{ast.unparse(node)} cannot be decided for such a value"


# --- truth -------------------------------------------------------------------------------------


def _truth(node: ast.expr, given: JsonObject) -> Truth:
    match node:
        case ast.BoolOp(op=ast.And()):
            return _every(_truth(one, given) for one in node.values)
        case ast.BoolOp():
            return _some(_truth(one, given) for one in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return _inverse(_truth(node.operand, given))
        case ast.Compare():
            return _compared(node, given)
    value = _value(node, given)
    return value if isinstance(value, bool) else None


def _every(parts: Iterable[Truth]) -> Truth:
    seen = set(parts)
    return False if False in seen else None if None in seen else True


def _some(parts: Iterable[Truth]) -> Truth:
    seen = set(parts)
    return True if True in seen else None if None in seen else False


def _inverse(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _compared(node: ast.Compare, given: JsonObject) -> Truth:
    values = [_value(one, given) for one in (node.left, *node.comparators)]
    pairs = zip(node.ops, pairwise(values), strict=True)
    return _every(COMPARISONS[type(op)](*pair) for op, pair in pairs)


def _equal(left: object, right: object) -> Truth:
    """Values of different types are not unequal: whoever is called may read "100" as 100."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return composed(left) == composed(right)
    if isinstance(left, bool) and isinstance(right, bool):
        return left == right
    if _is_number(left) and _is_number(right):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            return False
        return _every(_equal(one, other) for one, other in zip(left, right, strict=True))
    return None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], Truth]:
    def truth(left: object, right: object) -> Truth:
        if isinstance(left, str) and isinstance(right, str):
            return compare(composed(left), composed(right))
        return compare(left, right) if _is_number(left) and _is_number(right) else None

    return truth


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _is_nan(value)


def _is_nan(value: float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _within(one: object, many: object) -> Truth:
    return _some(_equal(one, other) for other in many) if isinstance(many, list) else None


COMPARISONS: Mapping[type[ast.cmpop], Callable[[object, object], Truth]] = {
    ast.Eq: _equal,
    ast.NotEq: lambda left, right: _inverse(_equal(left, right)),
    ast.Lt: _ordered(lambda left, right: left < right),
    ast.LtE: _ordered(lambda left, right: left <= right),
    ast.Gt: _ordered(lambda left, right: left > right),
    ast.GtE: _ordered(lambda left, right: left >= right),
    ast.In: _within,
    ast.NotIn: lambda one, many: _inverse(_within(one, many)),
}


# --- values ------------------------------------------------------------------------------------


def _value(node: ast.expr, given: JsonObject) -> object:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return _named(node.id, given)
        case ast.Attribute():
            return _part(_value(node.value, given), node.attr)
        case ast.Subscript(slice=ast.Constant(value=key)):
            return _part(_value(node.value, given), key)
        case ast.List() | ast.Tuple() | ast.Set():
            return [_value(one, given) for one in node.elts]
        case ast.Call(func=ast.Name(id=function)):
            return FUNCTIONS[function](*(_value(one, given) for one in node.args))
    return _computed(node, given)


def _computed(node: ast.expr, given: JsonObject) -> object:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, given)
        return -value if isinstance(value, int | float) and not isinstance(value, bool) else UNKNOWN
    truth = _truth(node, given)
    return UNKNOWN if truth is None else truth


def _named(name: str, given: JsonObject) -> object:
    if name in given:
        return _as_list(given[name])
    return dict(given) if name == EVERY_ARGUMENT else CONSTANTS.get(name, UNKNOWN)


def _part(value: object, key: object) -> object:
    if isinstance(value, Mapping) and isinstance(key, str):
        return _as_list(value.get(key, UNKNOWN))
    if isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
        return _as_list(value[key])
    return UNKNOWN


def _as_list(value: object) -> object:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _size(value: object) -> object:
    return len(value) if isinstance(value, str | list | Mapping) else UNKNOWN


def _lower(value: object) -> object:
    return composed(value).lower() if isinstance(value, str) else UNKNOWN


def _host(value: object) -> object:
    """Whose server a URL leads to; unknown where two readers of it may not agree."""
    if not isinstance(value, str) or any(letter in value for letter in "\\@ ") or not value.isprintable():
        return UNKNOWN
    try:
        return urlsplit(value).hostname or UNKNOWN
    except ValueError:
        return UNKNOWN


def _each(value: object, truth: Callable[[str], Truth]) -> object:
    """For a text, or for each in a list of texts; an empty list holds nothing that is wrong."""
    many = value if isinstance(value, list) else [value]
    held = _every(truth(one) if isinstance(one, str) else None for one in many)
    return UNKNOWN if held is None else held


def _only(value: object, *allowed: object) -> object:
    return _each(value, lambda text: _some(_fits(text, one) for one in _texts(allowed)))


def _under(value: object, *folders: object) -> object:
    return _each(value, lambda path: _some(is_under(path, one) for one in _texts(folders)))


def _texts(values: Iterable[object]) -> Sequence[str]:
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, str)]


SEPARATORS = frozenset(",;<>\"'")


def _fits(text: str, glob: str) -> Truth:
    """Whether a text is one that a glob means; a wildcard must not swallow a second recipient."""
    text, glob = composed(text), composed(glob)
    if "*" not in glob:
        return text == glob
    if not glob_matches(glob, text):
        return False
    is_one = text.isprintable() and not any(one in SEPARATORS or one.isspace() for one in text)
    return True if is_one else None


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "has": lambda value: value is not UNKNOWN,
    "size": _size,
    "lower": _lower,
    "host": _host,
    "only": _only,
    "under": _under,
}
