"""What people read says "1 tool" and "2 tools": a number and its noun come from one function."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.text.counts import counted
from tests.support.places import ROOT

NOUNS = (
    "alerts", "agents", "calls", "capabilities", "cards", "chains", "decisions", "entries", "errors",
    "evaluations", "files", "findings", "gaps", "grants", "hits", "labels", "lessons", "lines", "minutes",
    "offers", "problems", "profiles", "providers", "requests", "rows", "servers", "sources", "tests", "texts",
    "times", "tokens", "tools", "turns", "uses",
)  # fmt: skip
FACES = ("alerts", "cli", "web", "engine/digest.py")


def written(path: Path) -> Iterator[str]:
    """The texts of a file in which a number stands before the noun of several, as it is written."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for one, after in zip(node.values, node.values[1:], strict=False):
                if isinstance(one, ast.FormattedValue) and isinstance(after, ast.Constant):
                    noun = re.match(rf" ({'|'.join(NOUNS)})\b", str(after.value))
                    if noun and "counted" not in ast.unparse(one):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(one.value)} {noun[1]}"


def test_no_face_writes_a_number_before_the_noun_of_several() -> None:
    home = ROOT / "src" / "prowess"
    files = [
        path for face in FACES for path in ([home / face] if "." in face else (home / face).rglob("*.py"))
    ]
    assert [text for path in files for text in written(path)] == []


def test_no_page_writes_a_number_before_the_noun_of_several() -> None:
    pattern = re.compile(rf"\}}\}} ({'|'.join(NOUNS)})\b")
    found = []
    for page in (ROOT / "src" / "prowess" / "web" / "templates").glob("*.html"):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{page.name}:{number}: {one.group(0)}" for one in pattern.finditer(line)]
    assert found == []


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [(1, "tool", "1 tool"), (2, "tool", "2 tools"), (0, "entry", "0 entries"), (3, "day", "3 days")],
)
def test_one_is_one_and_all_others_are_several(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
