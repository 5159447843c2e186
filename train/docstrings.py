"""Make labelled sets from Python packages: the first line of a docstring asks for its function.

    python -m train.docstrings --packages site-packages/numpy site-packages/scipy --out sets

Sources are read, never imported. What follows the first line, up to the first heading, describes
the tool.
"""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from train.bench import Bench, Query, Tool, write_bench
from train.openapi import plain
from train.paraphrase import SENTENCE_END

HEADING = re.compile(r"\n\s*(?:[A-Z][\w ]+\n\s*[-=~]{3,}|:\w+|Args:|Arguments:|Returns:|Example|>>>|\.\. )")
MOST_TOOLS, MOST_OF_PACKAGE = 3000, 600


def functions_of(package: Path) -> Iterator[tuple[Tool, str]]:
    """Yield each public function that has a first line and more than that, with the first line."""
    for path in sorted(package.rglob("*.py")):
        if "test" not in str(path.relative_to(package)):
            yield from _functions(path, package.name)


def _functions(path: Path, package: str) -> Iterator[tuple[Tool, str]]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            first, rest = _told(ast.get_docstring(node) or "")
            if 12 < len(first) < 160 and len(rest) > 50:
                names = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
                id = f"{package}.{path.stem}.{node.name}"
                yield Tool(id, node.name, rest, dict.fromkeys(names, ""), path.stem), first


def _told(docstring: str) -> tuple[str, str]:
    first, _, rest = docstring.strip().partition("\n\n")
    rest = HEADING.split(f"\n{rest}", maxsplit=1)[0]
    return plain(first).rstrip("."), " ".join(SENTENCE_END.split(plain(rest))[:3])[:400]


def bench_of(name: str, found: list[tuple[Tool, str]]) -> Bench:
    once = {tool.id: (tool, first) for tool, first in found}
    queries = [Query(f"q-{id}", first, (id,), {}, "train") for id, (_, first) in once.items()]
    return Bench(name, tuple(tool for tool, _ in once.values()), tuple(queries))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make sets from the docstrings of Python packages.")
    parser.add_argument("--packages", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random, found = Random(given.seed), list[tuple[Tool, str]]()
    for package in given.packages:
        functions = list(functions_of(package))
        found += random.sample(functions, min(MOST_OF_PACKAGE, len(functions)))
    random.shuffle(found)
    for start in range(0, len(found), MOST_TOOLS):
        bench = bench_of(f"python_{start}", found[start : start + MOST_TOOLS])
        write_bench(bench, given.out)
        print(bench.name, len(bench.tools))


if __name__ == "__main__":
    main()
