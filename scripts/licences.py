"""List the licence of everything that `pip install "prowess[all]"` brings: `python -m scripts.licences FILE`.

It reads the environment it runs in. A licence that is not known to allow every use ends it with an error.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ASKED = re.compile(r"([A-Za-z0-9._-]+)(?: *\[(.*?)\])?")
ONLY = re.compile(r"""extra == ["'](\w[\w-]*)["']""")
ALLOWED = re.compile(r"Apache|BSD|MIT|ISC|MPL|Python|PSF|LGPL|0BSD|Unlicense|CC0|Zlib", re.IGNORECASE)
ROOT = "prowess"
EXTRAS = ("gateway", "oidc", "otel", "postgres", "secrets", "tokens", "web")


def installed() -> dict[str, Distribution]:
    """Every distribution that prowess or one of its extras needs, directly or not, and that is here."""
    found: dict[str, Distribution] = {}
    waiting: list[tuple[str, tuple[str, ...]]] = [(ROOT, EXTRAS)]
    while waiting:
        name, extras = waiting.pop()
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or another Python
        waiting += [each for each in _needs(one, extras) if _plain(each[0]) not in found]
        found[_plain(name)] = one
    del found[ROOT]
    return dict(sorted(found.items()))


def _needs(one: Distribution, extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names, each with the extras of it that are asked for."""
    for line in one.requires or ():
        only = ONLY.search(line)
        asked = ASKED.match(line)
        if asked and (only is None or only[1] in extras) and _plain(asked[1]) != ROOT:
            yield asked[1], tuple((asked[2] or "").replace(" ", "").split(","))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(one: Distribution) -> str:
    """By its own words: the expression, else the classifiers, else the first line of the text."""
    said = one.metadata.get("License-Expression")
    classifiers = one.metadata.get_all("Classifier") or []
    named = [
        c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License :: ") and c.count("::") > 1
    ]
    text = (one.metadata.get("License") or "").strip().splitlines()
    return said or ", ".join(named) or (text[0] if text else "not said")


def table() -> str:
    """One row for each; fails where a licence is none of those that are allowed."""
    rows = {f"{one.metadata['Name']} {one.version}": licence(one) for one in installed().values()}
    other = {name: said for name, said in rows.items() if not ALLOWED.search(said)}
    if other:
        raise SystemExit(f"look at these licences: {other}")
    return "| package | licence |\n|---|---|\n" + "".join(
        f"| {name} | {said} |\n" for name, said in rows.items()
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(table(), encoding="utf-8")
