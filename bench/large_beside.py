"""Beside a very large catalogue, on the same rows: pgvector alone, and PostgreSQL's text search alone."""

import statistics
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg

from prowess.discovery import embedders

EXACT, NEAREST = 30, 100
DEPTHS = (100, 400, 800)
COPY_BEGINS = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
COPY_ENDS = struct.pack(">h", -1)


def beside(url: str, asked: Sequence[str]) -> dict[str, Any]:
    """How long both take for these requests, and how many of the nearest hundred pgvector finds."""
    _, embed = embedders.shipped()
    vectors = [np.asarray(embed([text]), np.float32)[0] for text in asked]
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
        numbers, matrix = _rows(connection)
        built = _filled(connection, numbers, matrix)
        nearest = [
            numbers[np.argpartition(-_products(matrix, one), NEAREST)[:NEAREST]] for one in vectors[:EXACT]
        ]
        lines = [f"pgvector alone: HNSW over halfvec built in {built:.0f} s"]
        lines += [_by_vector(connection, vectors, nearest, depth) for depth in DEPTHS]
        lines.append(_by_words(connection, asked[:50]))
        size = connection.execute("SELECT pg_relation_size('beside_embedding_idx') / 1e6").fetchone()
        lines.append(f"its index: {float(size[0] if size else 0):.0f} MB")
        connection.execute("DROP TABLE beside")
    return {"lines": lines, "built": built}


def _rows(connection: psycopg.Connection[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float16]]:
    rows = connection.cursor(binary=True).execute("SELECT number, vector FROM indexed_vector ORDER BY number")
    numbers, vectors = zip(*rows, strict=True)
    return np.array(numbers), np.frombuffer(b"".join(vectors), np.float16).reshape(len(numbers), -1)


def _filled(
    connection: psycopg.Connection[Any], numbers: npt.NDArray[np.int64], matrix: npt.NDArray[np.float16]
) -> float:
    """A table of the same vectors and texts, with an index of each; returns the seconds of the first."""
    run = connection.execute
    run("CREATE EXTENSION IF NOT EXISTS vector")
    run("DROP TABLE IF EXISTS beside")
    kind = f"halfvec({matrix.shape[1]})"
    run(f"CREATE TABLE beside (number BIGINT PRIMARY KEY, embedding {kind}, words tsvector)")
    statement = "COPY beside (number, embedding) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(statement) as copying:
        for part in _binary(numbers, matrix):
            copying.write(part)
    run(
        "UPDATE beside b SET words = to_tsvector('english', t.capability::json->>'description')"
        " FROM indexed_capability i JOIN capability_text t ON t.id = i.id WHERE i.number = b.number"
    )
    run("SET maintenance_work_mem = '2GB'")
    begun = time.perf_counter()
    run("CREATE INDEX beside_embedding_idx ON beside USING hnsw (embedding halfvec_ip_ops)")
    built = time.perf_counter() - begun
    run("CREATE INDEX ON beside USING gin (words)")
    run("VACUUM ANALYZE beside")
    return built


def _binary(numbers: npt.NDArray[np.int64], matrix: npt.NDArray[np.float16]) -> Iterator[bytes]:
    yield COPY_BEGINS
    width = matrix.shape[1]
    for number, vector in zip(numbers.tolist(), matrix.astype(">f2"), strict=True):
        yield struct.pack(">hiqihh", 2, 8, number, 4 + 2 * width, width, 0) + vector.tobytes()
    yield COPY_ENDS


def _products(matrix: npt.NDArray[np.float16], vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    parts = (np.vecdot(part.astype(np.float32), vector) for part in np.array_split(matrix, 20))
    return np.concatenate(list(parts))


def _by_vector(
    connection: psycopg.Connection[Any], vectors: Sequence[npt.NDArray[np.float32]],
    nearest: Sequence[npt.NDArray[np.int64]], depth: int,
) -> str:  # fmt: skip
    connection.execute(f"SET hnsw.ef_search = {depth}")
    times, kept = [], []
    for place, vector in enumerate(vectors):
        begun = time.perf_counter()
        found = connection.execute(
            f"SELECT number FROM beside ORDER BY embedding <#> %s::halfvec LIMIT {NEAREST}",
            (str(vector.astype(float).tolist()),),
        ).fetchall()
        times.append(1000 * (time.perf_counter() - begun))
        if place < len(nearest):
            kept.append(len({row[0] for row in found} & set(nearest[place].tolist())) / NEAREST)
    share = 100 * statistics.fmean(kept)
    return f"pgvector alone, ef_search {depth}: {_shown(times)} ms, {share:.1f}% of the nearest hundred"


def _by_words(connection: psycopg.Connection[Any], asked: Sequence[str]) -> str:
    times = []
    for text in asked:
        words = " | ".join(word for word in text.split() if word.isalpha()) or "nothing"
        begun = time.perf_counter()
        connection.execute(
            "SELECT number FROM beside, to_tsquery('english', %s) q WHERE words @@ q"
            f" ORDER BY ts_rank(words, q) DESC LIMIT {NEAREST}",
            (words,),
        ).fetchall()
        times.append(1000 * (time.perf_counter() - begun))
    return f"PostgreSQL's text search alone (ts_rank): {_shown(times)} ms"


def _shown(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.99 * (len(ordered) - 1))]:.0f}"
