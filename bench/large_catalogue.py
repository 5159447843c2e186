"""A catalogue of any size out of the labelled sets' real tools, and its rows in a store.

A tool beyond the 9,505 there are is a real one told with words of a tool that is near it, for one of many
products, behind one of many servers. The vectors of the first are made by the shipped encoder, those of the
others lie between the vectors of the two tools they were told with: `ENCODED` says how many are real.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from prowess.discovery.embedders import shipped
from prowess.discovery.text import embedding_text
from prowess.discovery.vectors import key_of
from prowess.journal import canonical
from prowess.types import Capability, Detail

SETS = (
    "metatool", "sealtools", "bfcl", "toollinkos_main", "restbench", "toolalpaca", "toolalpaca_api",
    "apibench",
)  # fmt: skip
ENCODED = 20_000
GROUPS = 200
"""Of servers: policy names them, half a percent of all capabilities each."""
SERVERS = 100
"""In each group."""
NEAR = 10
LONGEST = 600
SYLLABLES = ("ba", "co", "di", "fe", "gu", "ka", "lo", "mi", "nu", "ra", "se", "to", "vi", "xa", "ze")


@dataclass(frozen=True, slots=True)
class Made:
    """A capability, and its vector."""

    capability: Capability
    vector: np.typing.NDArray[np.float16]


def real_tools(sets: Path) -> list[Capability]:
    found: dict[tuple[str, str], Capability] = {}
    for name in SETS:
        for line in (sets / name / "tools.jsonl").read_text().splitlines():
            tool: dict[str, Any] = json.loads(line)
            said = " ".join(str(tool.get("description") or "").split())[:LONGEST]
            parameters = tool.get("parameters")
            found.setdefault(
                (tool["name"], said),
                Capability(
                    id="", kind="tool", name=tool["name"], display_name=tool["name"], description=said,
                    category=str(tool.get("category") or "general"),
                    parameters=tuple(parameters)[:12] if isinstance(parameters, dict) else (),
                ),
            )  # fmt: skip
    return list(found.values())


def requests(sets: Path, count: int, seed: int = 1) -> list[str]:
    """Real requests, of several sets alike."""
    chance = random.Random(seed)
    texts: list[str] = []
    for name in ("metatool", "bfcl", "sealtools", "toolalpaca_api", "restbench"):
        rows = [json.loads(line) for line in (sets / name / "queries.jsonl").read_text().splitlines()]
        said = [str(row.get("query") or row.get("request") or row.get("text")) for row in rows]
        texts += chance.sample(said, min(len(said), count // 5))
    return texts


def made(sets: Path, size: int, seed: int = 1) -> Iterator[Made]:
    tools = real_tools(sets)
    _, embed = shipped()
    base = _encoded(embed, [embedding_text(one) for one in tools])
    near = np.concatenate(
        [np.argsort(-(part @ base.T), axis=1)[:, 1 : NEAR + 1] for part in np.array_split(base, 20)]
    )
    chance, drawn = random.Random(seed), np.random.default_rng(seed)
    waiting: list[Capability] = []
    for number in range(size):
        first = number if number < len(tools) else chance.randrange(len(tools))
        second = int(near[first, chance.randrange(NEAR)])
        told = _told(number, tools[first], tools[second] if number >= len(tools) else None, chance)
        if number < ENCODED:
            waiting.append(told)
            if len(waiting) == 1000 or number + 1 in (size, ENCODED):
                vectors = _encoded(embed, [embedding_text(one) for one in waiting])
                yield from map(Made, waiting, vectors.astype(np.float16))
                waiting = []
            continue
        share = chance.uniform(0.55, 1)
        vector = share * base[first] + (1 - share) * base[second] + drawn.normal(0, 0.012, base.shape[1])
        yield Made(told, (vector / np.linalg.norm(vector)).astype(np.float16))


def _encoded(embed: Any, texts: list[str]) -> np.typing.NDArray[np.float32]:
    parts = [np.asarray(embed(texts[at : at + 128]), np.float32) for at in range(0, len(texts), 128)]
    return np.concatenate(parts)


def _told(number: int, tool: Capability, other: Capability | None, chance: random.Random) -> Capability:
    group, server = number % GROUPS, (number // GROUPS) % SERVERS
    provider = f"g{group:03}s{server:02}"
    description = tool.description
    if other is not None:
        product = "".join(chance.choices(SYLLABLES, k=3)).title()
        also = other.description.split(". ")[0][:120]
        description = f"{tool.description[:LONGEST]} For {product}: {also}"
    return Capability(
        id=f"tool:{provider}/{tool.name}-{number}", kind="tool", name=f"{provider}/{tool.name}-{number}",
        display_name=tool.display_name, description=description, category=tool.category,
        parameters=tool.parameters, provider=provider, source="large",
        digest=hashlib.sha256(f"{number} {description}".encode()).hexdigest(),
    )  # fmt: skip


def copy_into(url: str, rows: Iterator[Made], model: str) -> int:
    """Write them as a sync would, by COPY; returns how many."""
    import psycopg

    count = 0
    detail = msgspec.json.encode(Detail(input_schema={"type": "object", "properties": {}})).decode()
    with psycopg.connect(url, autocommit=True, options="-c prowess.workspace=*") as connection:
        while portion := [one for _, one in zip(range(20_000), rows, strict=False)]:
            _copy(connection, "capability (id, source, place, provider, digest, version, definition,"
                  " original_id, original_digest)",
                  ((c.id, c.source, c.id, c.provider, c.digest, 1, "", c.id, c.digest)
                   for c in (one.capability for one in portion)))  # fmt: skip
            _copy(connection, "capability_text (id, digest, since, seen_at, capability, detail)",
                  ((c.id, c.digest, 1, "2026-01-01T00:00:00Z", canonical(c), detail)
                   for c in (one.capability for one in portion)))  # fmt: skip
            vectors = {key_of(embedding_text(one.capability)): one.vector.tobytes() for one in portion}
            _copy(connection, "text_vector (model, text, vector)",
                  ((model, text, vector) for text, vector in vectors.items()))  # fmt: skip
            count += len(portion)
        names = [f"g{group:03}s{server:02}" for group in range(GROUPS) for server in range(SERVERS)]
        _copy(connection, "provider (name, source, description, faculties, definition)",
              ((name, "large", "", "[]", "") for name in names))  # fmt: skip
        connection.execute(
            "INSERT INTO catalogue_version (workspace, one, version) VALUES ('default', 1, 1)"
            " ON CONFLICT (workspace, one) DO UPDATE SET version = 1"
        )
        connection.execute("VACUUM ANALYZE")
    return count


def _copy(connection: Any, table: str, rows: Iterator[tuple[object, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copying:
        for row in rows:
            copying.write_row(row)
