"""The page of requirements is the one that its tests give, and every test there says what it shows."""

from scripts.requirements import PAGE, ROOMS, page
from tests.support.places import TESTS


def test_the_page_of_requirements_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m scripts.requirements"


def test_every_file_and_every_test_of_the_requirements_is_on_the_page() -> None:
    assert {file.stem for file in (TESTS / "seeds").glob("test_*.py")} == set(ROOMS)
    assert "|  |" not in page().replace("|  |\n", "") and "| None" not in page()
