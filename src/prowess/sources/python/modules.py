"""Python modules as places where marked functions stand.

Above: the sources that read Python. A mark is an attribute of the function; nothing is registered. A module
whose files changed is loaded anew, under the same name: what runs goes on with the functions it has.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from threading import Lock
from types import ModuleType

from prowess.errors import SourceError

_STAMP = "__prowess_stamp__"
"""The attribute of a module that says which state of its files it was loaded from."""

_OUTDATED = "__prowess_outdated__"
"""The attribute of a module whose files say something else by now that cannot be loaded."""

_LOCK = "__prowess_lock__"
"""The attribute of a module that is held while its files are looked at."""

Stamp = tuple[tuple[str, int, int], ...]


def load_module(name: str, folder: str = "") -> ModuleType:
    """The module as its files are now.

    folder: where it is looked for first, beside what Python finds anyway: that of prowess.toml.
    """
    while True:
        module = loaded_module(name, folder)
        # Sources are read beside each other, and several may read one module.
        with vars(module).setdefault(_LOCK, Lock()):
            if sys.modules.get(name) is module:
                return _as_it_is_now(module, folder)


def _as_it_is_now(module: ModuleType, folder: str) -> ModuleType:
    before, now = getattr(module, _STAMP, None), _stamp(_family(module, folder).values())
    if before not in (None, now):
        module = _loaded_anew(module, folder)
        now = _stamp(_family(module, folder).values())
    setattr(module, _STAMP, now)
    return module


def loaded_module(name: str, folder: str = "") -> ModuleType:
    """The module as it was loaded last, whatever became of its files; loaded now where it never was."""
    _look_in(name, folder)
    try:
        return importlib.import_module(name)
    # The module's own code runs here, and may raise or exit in any way.
    except (Exception, SystemExit) as error:
        what = f"cannot be imported: {type(error).__name__}: {error}"
        raise SourceError(name, what, f"try: python -c 'import {name}'") from error


def is_loaded(name: str) -> bool:
    """Whether this process has loaded what the files of the module say."""
    module = sys.modules.get(name)
    return module is not None and not hasattr(module, _OUTDATED)


def files_of(name: str, folder: str = "") -> list[Path]:
    """The files whose change changes the module, as far as that is known before it is loaded."""
    module = sys.modules.get(name)
    if module is not None:
        return sorted({Path(file) for file in map(_file, _family(module, folder).values()) if file})
    spec = _beside(name, folder)
    return [Path(spec.origin)] if spec and spec.origin else []


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


def _look_in(name: str, folder: str) -> None:
    """Let Python find what lies in the folder, and whatever that imports there, now or later."""
    if name not in sys.modules and folder not in sys.path and _beside(name, folder):
        sys.path.insert(0, folder)


def _beside(name: str, folder: str) -> ModuleSpec | None:
    """Where the module, or the package that it is in, lies in the folder."""
    return PathFinder.find_spec(name.partition(".")[0], [folder]) if folder else None


def _loaded_anew(module: ModuleType, folder: str) -> ModuleType:
    """What was loaded stays where the new files cannot be."""
    name, before = module.__name__, _family(module, folder)
    # The module itself goes last: who loads it meanwhile must find nothing old of it.
    for one in [*(other for other in before if other != name), name]:
        sys.modules.pop(one, None)
    importlib.invalidate_caches()
    try:
        return loaded_module(name, folder)
    except SourceError:
        sys.modules.update(before)
        setattr(module, _OUTDATED, True)
        raise


def _family(module: ModuleType, folder: str) -> dict[str, ModuleType]:
    """The module, its parts, and what it took from other modules in the folder, by name."""
    root = module.__name__
    found = {name: one for name, one in list(sys.modules.items()) if name.startswith(f"{root}.")}
    waiting = [module, *found.values()]
    found[root] = module
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            other = sys.modules.get(name) if isinstance(name, str) else None
            if other is not None and name not in found and _is_below(other, folder):
                found[str(name)] = other
                waiting.append(other)
    return found


def _is_below(module: ModuleType, folder: str) -> bool:
    """Whether it is a person's own, beside prowess.toml, and nothing that was installed there."""
    file = _file(module)
    if not folder or not file or module.__name__ == "__main__":
        return False
    path, root = Path(file).resolve(), Path(folder).resolve()
    return path.is_relative_to(root) and "site-packages" not in path.relative_to(root).parts


def _file(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def _stamp(modules: Iterable[ModuleType]) -> Stamp:
    return tuple(sorted(_state(file) for file in map(_file, modules) if file))


def _state(file: str) -> tuple[str, int, int]:
    try:
        found = Path(file).stat()
    except OSError:
        return file, 0, 0
    return file, found.st_mtime_ns, found.st_size
