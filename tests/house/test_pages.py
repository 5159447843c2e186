"""What is made from the code stands in docs as the code has it now."""

import re
from typing import Any

import msgspec
import pytest

from prowess import config
from scripts.diagrams import DIAGRAMS, FOLDER, drawn
from scripts.notes import notes
from scripts.pages import PAGES
from tests.support.places import ROOT

CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## `\[(\w+)\]`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| `?([^|`]+?)`? \|", re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_code_says(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == PAGES[name](), "run: python -m scripts.pages"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_diagram_is_drawn_as_its_words_are(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text() == drawn(name, DIAGRAMS[name]), (
        "run: python -m scripts.diagrams"
    )


def defaults() -> list[tuple[str, str, str]]:
    sections = SECTION.findall(CONFIGURATION)
    return [(section, key, said) for section, text in sections for key, said in ROW.findall(text)]


@pytest.mark.parametrize(("section", "key", "said"), defaults())
def test_a_default_in_the_configuration_page_is_that_of_the_code(section: str, key: str, said: str) -> None:
    held: dict[str, Any] = msgspec.to_builtins(getattr(config.Config(), section))
    numbers = isinstance(held.get(key), int | float) and not isinstance(held.get(key), bool)
    if numbers:
        assert float(said) == held[key]
    elif isinstance(held.get(key), bool):
        assert said == str(held[key]).lower()
    elif said == "none" or said.startswith("empty"):
        assert not held.get(key)
    elif isinstance(held.get(key), str) and held[key] and " " not in said:
        assert said == held[key]


def test_the_defaults_are_found_at_all() -> None:
    assert len(defaults()) > 40


def test_the_notes_of_a_release_are_its_part_of_the_changelog() -> None:
    changelog = "# Changelog\n\n## 0.2.0\n\n- new\n\n## 0.1.0 (not released)\n\n- old\n"
    assert notes(changelog, "0.2.0") == "# prowess 0.2.0\n\n- new\n"
    assert notes(changelog, "0.1.0") == "# prowess 0.1.0\n\n- old\n"
    with pytest.raises(SystemExit, match="says nothing about"):
        notes(changelog, "0.3.0")
