"""Python modules as places where marked functions stand.

Above: the sources that read Python. A mark is an attribute of the function; nothing is registered.
"""

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

from prowess.errors import SourceError


def load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    # The module's own code runs here, and may raise or exit in any way.
    except (Exception, SystemExit) as error:
        what = f"cannot be imported: {type(error).__name__}: {error}"
        raise SourceError(name, what, f"try: python -c 'import {name}'") from error


def marked_in(module: ModuleType, mark: str) -> Iterator[Callable[..., object]]:
    """Every callable of the module that carries the mark, once, in the order of definition."""
    seen: set[int] = set()
    for value in list(vars(module).values()):
        if callable(value) and id(value) not in seen and has_mark(value, mark):
            seen.add(id(value))
            yield value


def has_mark(value: object, mark: str) -> bool:
    # Some objects answer yes to every attribute; only one that was set counts.
    return mark in getattr(value, "__dict__", {})


def put_mark(function: Callable[..., object], mark: str, value: object) -> None:
    try:
        setattr(function, mark, value)
    except (AttributeError, TypeError) as error:
        raise SourceError(repr(function), "cannot be marked", "wrap it in a function of your own") from error


def place_of(function: Callable[..., object], default: str) -> str:
    module = getattr(function, "__module__", None)
    return module if isinstance(module, str) and module else default


def entry_of(function: Callable[..., object]) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__qualname__
