"""Make labelled sets from requests that were written by hand for tools of other sets.

    python -m train.written --requests train/written.tsv --sets sets --out sets

A line of the requests is a tool's id, or several, and a request, with tabs between them. Each set that has
such tools gives one more, named written_NAME: all its tools, and the written requests alone.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from train.bench import Bench, Query, read_bench, write_bench

Request = tuple[tuple[str, ...], str]


def read_requests(path: Path) -> list[Request]:
    with path.open(encoding="utf-8") as lines:
        parts = [line.rstrip("\n").split("\t") for line in lines]
    return [(tuple(ids), request) for *ids, request in parts]


def written_set(bench: Bench, requests: Sequence[Request]) -> Bench:
    known = {tool.id for tool in bench.tools}
    asked = [(ids, request) for ids, request in requests if known.issuperset(ids)]
    queries = [Query(f"w{n}", request, ids, {}, "train") for n, (ids, request) in enumerate(asked)]
    return Bench(f"written_{bench.name}", bench.tools, tuple(queries))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make sets from written requests.")
    parser.add_argument("--requests", type=Path, required=True)
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    requests = read_requests(given.requests)
    for folder in sorted(given.sets.iterdir()):
        made = written_set(read_bench(folder), requests)
        if made.queries:
            write_bench(made, given.out)
            print(made.name, len(made.queries))


if __name__ == "__main__":
    main()
