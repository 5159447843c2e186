"""docs/requirements.md from tests/seeds: what was asked for, where it is shown, what is better and why.

    python -m scripts.requirements

Each test's docstring is one requirement; what follows "Better:" says what goes beyond it. Where many like
requirements stand together, the id of each case is one.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "requirements.md"
ROOMS = (
    *("test_evolution", "test_cards", "test_cards_in_service"),
    *("test_ledger", "test_discovery", "test_capability_mapping"),
)
HEAD = """# Requirements

prowess began with five documents about what an agent can do. This is everything they ask for, in our words,
each with the test that shows it through a public door, and what is better than asked and why. The page is
made from those tests by `python -m scripts.requirements`; `python -m pytest tests/seeds` runs them.
"""


class Requirement(NamedTuple):
    text: str
    cases: tuple[str, ...]
    test: str
    better: str


def page() -> str:
    """The whole page."""
    sys.path.insert(0, str(ROOT))
    parts = [HEAD]
    for name in ROOMS:
        module = importlib.import_module(f"tests.seeds.{name}")
        rows = [_row(one) for one in requirements(module)]
        parts.append(f"\n## {module.ROOM}\n\n{_sentence(module)}\n")
        parts.append("\n| asked | shown by | better than asked |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(parts)


def requirements(module: ModuleType) -> Iterator[Requirement]:
    """Every requirement that the tests of a module show, in their order."""
    for name, function in vars(module).items():
        if name.startswith("test_") and callable(function):
            text, _, rest = (function.__doc__ or "").strip().partition("\n\n")
            better = re.sub(r"\s+", " ", rest).strip().removeprefix("Better: ")
            test = f"{module.__name__.replace('.', '/')}.py::{name}"
            yield Requirement(re.sub(r"\s+", " ", text), tuple(_cases(function)), test, better)


def _cases(function: Callable[..., object]) -> Iterator[str]:
    """The cases of a test that are written as sentences."""
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            yield from (case.id for case in mark.args[1] if getattr(case, "id", None))


def _row(one: Requirement) -> str:
    listed = "".join(f"<br>• {case}" for case in one.cases)
    cells = (one.text + listed, f"`{one.test}`", one.better)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sentence(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE, "is written")  # noqa: T201
