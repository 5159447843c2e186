"""Words that code goes by, kept as data: files beside the module that uses them, read when first needed."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


@cache
def words_in(file: Path) -> frozenset[str]:
    """The words of a text file; what stands behind `#` in a line is about them."""
    lines = (line.partition("#")[0] for line in file.read_text(encoding="utf-8").splitlines())
    return frozenset(word for line in lines for word in line.split())


@cache
def lists_in(file: Path) -> Mapping[str, Sequence[str]]:
    """The lists of a TOML file by name; a text in place of a list is its words."""
    with file.open("rb") as data:
        found = tomllib.load(data)
    return {name: value.split() if isinstance(value, str) else value for name, value in found.items()}
