"""What a docstring says: its first paragraph, and a line for each parameter.

Sections of Google and NumPy, fields of reStructuredText and Epydoc, as docstring_parser reads them.
"""

from collections.abc import Mapping
from inspect import cleandoc
from typing import NamedTuple


class Docstring(NamedTuple):
    summary: str = ""
    parameters: Mapping[str, str] = {}


def parse_docstring(text: str | None) -> Docstring:
    # Only those who read Python pay for it.
    from docstring_parser import ParseError, parse

    if not text or not text.strip():
        return Docstring()
    try:
        found = parse(text)
    except ParseError:  # a section that looks like one and is none: the first paragraph still holds
        return Docstring(_one_line(cleandoc(text).partition("\n\n")[0]))
    summary = found.short_description or ""
    if found.long_description and not found.blank_after_short_description:
        summary = f"{summary} {found.long_description.partition(chr(10) * 2)[0]}"
    parameters = {
        one.arg_name.lstrip("*"): _one_line(one.description or "")
        for one in found.params
        if one.args[0] not in NOT_PARAMETERS
    }
    return Docstring(_one_line(summary), parameters)


NOT_PARAMETERS = ("attribute",)


def _one_line(text: str) -> str:
    return " ".join(text.split())
