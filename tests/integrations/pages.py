"""The programs that the pages of integrations show."""

import re

from tests.support.places import ROOT

PAGES = ROOT / "docs" / "integrations"


def blocks(page: str, language: str = r"\w+") -> list[tuple[str, str]]:
    """Each program of a page, with its language.

    page: its name.
    language: only of this one.
    """
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```({language})\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def streaming(page: str) -> list[str]:
    """The programs of a page that show what a model says while it says it."""
    return [program for _, program in blocks(page, "python") if "def streamed" in program]
