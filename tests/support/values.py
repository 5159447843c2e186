"""Values for parameters, made from their types: what is usual, and what nobody would think of."""

from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any, TypeAlias

from hypothesis import strategies as st
from msgspec import inspect

HOSTILE = (
    "*", ".", "..", "../../etc/passwd", "~", "%00", "a/b", "a" * 200, "\u202e", "\ufeff", "' OR 1=1 --",
    ":name", "%s", "{agent}", "[", "(?<=", "\n", "-1", "99999999999999999999", "1e999", "null", "tool:", ":",
    "tool:*", "WyJh", "e30", "MA", "LTE", "bnVsbA", "WzEsMiwzXQ",
)  # fmt: skip
"""Patterns, paths, numbers, pieces of other languages, and cursors of something else."""
LARGE = 2**53
MOST_ITEMS = 3

Values: TypeAlias = st.SearchStrategy[Any]


def values_of(kind: type[Any], known: Sequence[str]) -> Values:
    """Values of a type; its texts are often among those that are known to mean something."""
    return _values(inspect.type_info(kind), tuple(known))


def texts(known: Sequence[str], least: int = 0, most: int = 200) -> st.SearchStrategy[str]:
    """Texts that a database can keep."""
    plain = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    fitting = [text for text in (*known, *HOSTILE, "") if least <= len(text) <= most]
    return st.sampled_from(fitting) | st.text(plain, min_size=least, max_size=min(most, 20))


def _values(kind: inspect.Type, known: Sequence[str]) -> Values:
    return _OF[type(kind)](kind, known)


def _texts(kind: Any, known: Sequence[str]) -> Values:
    if kind.pattern:
        return st.from_regex(kind.pattern, fullmatch=True)
    return texts(known, kind.min_length or 0, kind.max_length or LARGE)


def _whole_numbers(kind: Any, known: Sequence[str]) -> Values:
    least, most = -LARGE if kind.ge is None else kind.ge, LARGE if kind.le is None else kind.le
    return st.sampled_from((least, most)) | st.integers(least, most)


def _numbers(kind: Any, known: Sequence[str]) -> Values:
    least = kind.gt if kind.ge is None else kind.ge
    return st.floats(least, kind.le, exclude_min=kind.gt is not None, allow_nan=False, allow_infinity=False)


def _structs(kind: Any, known: Sequence[str]) -> Values:
    of_fields = {field.name: _values(field.type, known) for field in kind.fields}
    needed = {field.name: of_fields.pop(field.name) for field in kind.fields if field.required}
    return st.fixed_dictionaries(needed, optional=of_fields)


def _lists(kind: Any, known: Sequence[str]) -> Values:
    return st.lists(_values(kind.item_type, known), min_size=kind.min_length or 0, max_size=MOST_ITEMS)


def _mappings(kind: Any, known: Sequence[str]) -> Values:
    return st.dictionaries(
        _values(kind.key_type, known), _values(kind.value_type, known), max_size=MOST_ITEMS
    )


def _anything(kind: Any, known: Sequence[str]) -> Values:
    plain = st.none() | st.booleans() | st.integers(-LARGE, LARGE) | texts(known)
    return st.recursive(
        plain, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(known), inner)
    )


_OF: dict[type[inspect.Type], Callable[[Any, Sequence[str]], Values]] = {
    inspect.AnyType: _anything,
    inspect.BoolType: lambda kind, known: st.booleans(),
    inspect.DateTimeType: lambda kind, known: st.datetimes(timezones=st.none() | st.just(UTC)),
    inspect.DictType: _mappings,
    inspect.FloatType: _numbers,
    inspect.IntType: _whole_numbers,
    inspect.LiteralType: lambda kind, known: st.sampled_from(kind.values),
    inspect.NoneType: lambda kind, known: st.none(),
    inspect.StrType: _texts,
    inspect.StructType: _structs,
    inspect.UnionType: lambda kind, known: st.one_of([_values(each, known) for each in kind.types]),
    inspect.VarTupleType: _lists,
}
