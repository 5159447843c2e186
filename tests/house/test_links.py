"""Every link of README and docs leads to a page, and to a part that the page has."""

import re
from pathlib import Path

import pytest

from scripts.site import CODE, ROOT, links, pages

HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"[^\w\- ]")


def parts(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {LEFT_OUT.sub("", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for path, part in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} is not there"
        assert not part or part in parts(target), f"{path}#{part} is no heading"


def test_links_in_code_are_none_and_others_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](b.md#c) and `[d](e.md)`, [f](https://a.org), ![g](h.png)\n```\n[i](j.md)\n```\n")
    assert list(links(page)) == [("b.md", "c"), ("h.png", "")]
    assert CODE.sub("", "`x`") == ""


def test_every_page_of_docs_is_linked_from_another() -> None:
    linked = {(page.parent / path).resolve() for page in pages() for path, _ in links(page) if path}
    assert [page.name for page in pages() if page.parent != ROOT and page not in linked] == []
