"""Make labelled sets from published API descriptions: an operation's summary asks for it.

    python -m train.openapi --documents package/api --out sets

Summary and description of an operation are two people's words for one thing, or one person's on two
days: the first becomes the request, the second the tool. Documents are OpenAPI 2 or 3, as JSON.
"""

import argparse
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from train.bench import Bench, Query, Tool, write_bench
from train.paraphrase import SENTENCE_END

METHODS = ("get", "post", "put", "patch", "delete")
MOST_OF_DOCUMENT, MOST_OF_PUBLISHER = 40, 200
TOOLS_IN_SET = 3000
MARKUP = re.compile(r"<[^>]+>|!?\[([^\]]*)\]\([^)]*\)|[*`#|]+")


@dataclass(frozen=True, slots=True)
class Operation:
    tool: Tool
    summary: str


def operations_of(document: Mapping[str, Any], publisher: str) -> Iterator[Operation]:
    """Yield the operations that say what they do, in the document's order."""
    title = plain(str(document.get("info", {}).get("title", "")))[:60]
    for path, item in document.get("paths", {}).items():
        for method in METHODS:
            operation = item.get(method) if isinstance(item, dict) else None
            if isinstance(operation, dict):
                made = _operation(path, method, operation, item, f"{publisher}/{title}", title)
                if made is not None:
                    yield made


def _operation(
    path: str, method: str, told: Mapping[str, Any], item: Mapping[str, Any], prefix: str, title: str
) -> Operation | None:
    summary, description = _words_for(told)
    if not 12 <= len(summary) <= 200:
        return None
    parameters = [*item.get("parameters", ()), *told.get("parameters", ())]
    tool = Tool(
        id=f"{prefix} {method} {path}",
        name=str(told.get("operationId") or f"{method} {path}").split("/")[-1][:80],
        description=" ".join(SENTENCE_END.split(description)[:3])[:400],
        parameters=dict(_parameter(one) for one in parameters if isinstance(one, dict) and "name" in one),
        category=title,
    )
    return Operation(tool, summary.rstrip("."))


def _words_for(told: Mapping[str, Any]) -> tuple[str, str]:
    """Return the request and the description; where one text says both, its first sentence asks."""
    summary, description = (plain(str(told.get(key) or "")) for key in ("summary", "description"))
    if summary and summary.casefold() not in description.casefold():
        return summary, description
    first, *rest = SENTENCE_END.split(description or summary)
    return first, " ".join(rest)


def _parameter(told: Mapping[str, Any]) -> tuple[str, str]:
    schema = told.get("schema") if isinstance(told.get("schema"), dict) else told
    assert isinstance(schema, Mapping)
    choices = schema.get("enum")
    example = told.get("example", choices[0] if isinstance(choices, list) and choices else None)
    about = plain(str(told.get("description") or ""))[:120]
    said = isinstance(example, str | int | float) and example != ""
    return str(told["name"]), f"{about} e.g. {example}" if said else about


def plain(text: str) -> str:
    """Take markup off and put everything on one line."""
    return " ".join(html.unescape(MARKUP.sub(r"\1", text)).split())


def read_documents(folder: Path, random: Random) -> list[list[Operation]]:
    """Return each document's operations, no publisher and no document too many of them."""
    documents, taken = list[list[Operation]](), dict[str, int]()
    paths = sorted(folder.rglob("*.json"))
    random.shuffle(paths)
    for path in paths:
        publisher = path.relative_to(folder).parts[0].removesuffix(".json")
        room = min(MOST_OF_DOCUMENT, MOST_OF_PUBLISHER - taken.get(publisher, 0))
        if room > 0:
            found = list(operations_of(json.loads(path.read_text(encoding="utf-8")), publisher))
            chosen = random.sample(found, min(room, len(found)))
            taken[publisher] = taken.get(publisher, 0) + len(chosen)
            documents.append(chosen)
    return documents


def sets_of(documents: list[list[Operation]]) -> Iterator[Bench]:
    """Put whole documents together into sets, so that a set mixes many publishers."""
    shelf = list[Operation]()
    for number, document in enumerate(documents):
        shelf += document
        if len(shelf) >= TOOLS_IN_SET or number == len(documents) - 1:
            yield _bench(f"openapi_{number}", shelf)
            shelf = []


def _bench(name: str, operations: list[Operation]) -> Bench:
    once = {operation.tool.id: operation for operation in operations}
    queries = [Query(f"q{id}", operation.summary, (id,), {}, "train") for id, operation in once.items()]
    return Bench(name, tuple(operation.tool for operation in once.values()), tuple(queries))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make sets from OpenAPI documents.")
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for bench in sets_of(read_documents(given.documents, Random(given.seed))):
        write_bench(bench, given.out)
        print(bench.name, len(bench.tools))


if __name__ == "__main__":
    main()
