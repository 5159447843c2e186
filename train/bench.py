"""Read a labelled set: a catalogue of tools, and queries whose right tools are known."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Split = Literal["train", "test"]
MOST_QUERIES = 2000


@dataclass(frozen=True, slots=True)
class Tool:
    id: str
    name: str
    description: str = ""
    parameters: Mapping[str, str] | None = None
    category: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    id: str
    text: str
    gold: tuple[str, ...]
    alternatives: Mapping[str, Sequence[str]]
    split: Split

    def right(self) -> set[str]:
        """Return every tool that is no mistake for this query."""
        return {*self.gold, *(other for others in self.alternatives.values() for other in others)}


@dataclass(frozen=True, slots=True)
class Bench:
    name: str
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]

    def of_split(self, split: Split) -> list[Query]:
        return [query for query in self.queries if query.split == split]

    def sample(self, split: Split) -> list[Query]:
        """Return at most 2,000 queries, the same ones each time, as the benchmark prescribes."""
        chosen = self.of_split(split)
        random.Random(13).shuffle(chosen)
        return chosen[:MOST_QUERIES]


def read_bench(folder: Path) -> Bench:
    tools = tuple(_tool(row) for row in _rows(folder / "tools.jsonl"))
    queries = tuple(_query(row) for row in _rows(folder / "queries.jsonl"))
    return Bench(folder.name, tools, queries)


def write_bench(bench: Bench, under: Path) -> None:
    """Write a set into a folder of its name."""
    folder = under / bench.name
    folder.mkdir(parents=True, exist_ok=True)
    _write(
        folder / "tools.jsonl",
        [{**asdict(tool), "parameters": tool.parameters or {}} for tool in bench.tools],
    )
    queries = [{**asdict(query), "query": query.text} for query in bench.queries]
    _write(folder / "queries.jsonl", queries)


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _tool(row: Mapping[str, object]) -> Tool:
    parameters, tags = row["parameters"], row.get("tags", ())
    assert isinstance(parameters, dict) and isinstance(tags, list | tuple)
    return Tool(
        id=str(row["id"]),
        name=str(row["name"]),
        description=str(row["description"]),
        parameters=parameters,
        category=str(row["category"] or ""),
        tags=tuple(tags),
    )


def _query(row: Mapping[str, object]) -> Query:
    gold, alternatives, split = row["gold"], row["alternatives"], row["split"]
    assert isinstance(gold, list) and isinstance(alternatives, dict)
    assert split == "train" or split == "test"
    return Query(str(row["id"]), str(row["query"]), tuple(gold), alternatives, split)
