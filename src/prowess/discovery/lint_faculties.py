"""Faculties that are probably misspelt: near to one of the usual seven, but not it."""

from collections.abc import Iterable

from prowess.discovery.lint import LintFinding
from prowess.errors import nearest
from prowess.types import Provider

USUAL = ("Reasoning", "Memory", "Communication", "Tool", "Vision", "HAL", "Web")
FEWEST_LETTERS = 4
"""A shorter word is near to too many others."""


def misspelt_faculties(providers: Iterable[Provider]) -> tuple[LintFinding, ...]:
    """One finding for each faculty that looks like a slip; an unusual one is no finding."""
    known = {faculty.casefold(): faculty for faculty in USUAL}
    return tuple(
        LintFinding(
            (),
            f"{provider.name} has the faculty {faculty!r}, which evolution takes for a new one",
            f"did you mean {known[near]!r}?",
        )
        for provider in providers
        for faculty in provider.faculties
        if len(faculty) >= FEWEST_LETTERS and faculty.casefold() not in known
        if (near := nearest(faculty.casefold(), known))
    )
