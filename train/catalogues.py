"""Make labelled sets from catalogues that were written by hand, tools and requests both.

    python -m train.catalogues --folder train/catalogues --out sets

Each folder of catalogues gives one set, named written_FOLDER; where catalogues of a folder sell the same
things, so that a request for one might as well be answered by another, each gives a set of its own.
A catalogue is a text: `# name | what it is`, then tools, `@name | description | parameter: meaning; ...`,
each above its requests, one on a line. A line `+tool, tool | request` needs several tools.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from train.bench import Bench, Query, Tool, write_bench

RIVALS = ("directories", "plugins")
"""Folders whose catalogues sell the same things."""


def read_catalogue(path: Path) -> Bench:
    tools: list[Tool] = []
    queries: list[Query] = []
    server = ""
    for line in filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())):
        if line.startswith("# "):
            server = line[2:].partition(" | ")[0]
        elif line.startswith("@"):
            tools.append(_tool(line, path.stem, server))
        elif line.startswith("+"):
            names, _, request = line[1:].partition(" | ")
            gold = tuple(_id(path.stem, name.strip()) for name in names.split(","))
            queries.append(_query(path.stem, len(queries), request, gold))
        else:
            queries.append(_query(path.stem, len(queries), line, (tools[-1].id,)))
    _check(path, tools, queries)
    return Bench(path.stem, tuple(tools), tuple(queries))


def _tool(line: str, catalogue: str, server: str) -> Tool:
    name, _, rest = line[1:].partition(" | ")
    description, _, named = rest.partition(" | ")
    parameters = dict(_parameter(each) for each in named.removesuffix("|").split(";") if each.strip())
    return Tool(_id(catalogue, name), name.strip(), description.strip(" |"), parameters, server)


def _parameter(text: str) -> tuple[str, str]:
    name, _, meaning = text.partition(":")
    return name.strip(), meaning.strip()


def _id(catalogue: str, name: str) -> str:
    return f"{catalogue} {name.strip()}"


def _query(catalogue: str, number: int, request: str, gold: tuple[str, ...]) -> Query:
    return Query(f"{catalogue} {number}", request, gold, {}, "train")


def _check(path: Path, tools: Sequence[Tool], queries: Sequence[Query]) -> None:
    known = {tool.id for tool in tools}
    unknown = sorted({id for query in queries for id in query.gold} - known)
    if unknown or len(known) < len(tools):
        raise SystemExit(f"{path}: requests for tools it does not have, or tools named twice: {unknown}")


def joined(name: str, catalogues: Iterable[Bench]) -> Bench:
    read = list(catalogues)
    tools = tuple(tool for each in read for tool in each.tools)
    return Bench(name, tools, tuple(query for each in read for query in each.queries))


def sets_of(folder: Path) -> list[Bench]:
    """The sets that one folder of catalogues gives."""
    read = [read_catalogue(path) for path in sorted(folder.glob("*.txt"))]
    if folder.name in RIVALS:
        return [joined(f"written_{folder.name}_{each.name}", [each]) for each in read]
    return [joined(f"written_{folder.name}", read)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make sets from written catalogues.")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    for folder in sorted(each for each in given.folder.iterdir() if each.is_dir()):
        for made in sets_of(folder):
            write_bench(made, given.out)
            print(made.name, len(made.tools), len(made.queries))


if __name__ == "__main__":
    main()
