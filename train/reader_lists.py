"""Make the lists that the reader learns from: a request, what does it, and what is most easily taken for it.

    python -m train.reader_lists --bench BENCH --catalogues train/catalogues --out lists.npz

What is near is found with the shipped encoder, in the same set, and for written catalogues in the same
catalogue first. Texts are tokens already, so whoever trains needs neither tokenizer nor encoder.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from prowess.discovery.encoder import SHIPPED, Encoder
from prowess.discovery.glossary import in_other_words
from train.bench import Bench, Tool, read_bench
from train.catalogues import RIVALS, joined, read_catalogue
from train.pairs import twins
from train.paraphrase import ask_for, name_of, reword
from train.text import thinned_text, tool_text

LABELLED = ("metatool", "sealtools", "bfcl", "toollinkos_main")
NEAR = 24
"""How many wrong tools are kept for each request, nearest first."""
OWN_FIRST = 16
"""How many of those are of the same written catalogue."""
ALIKE = 0.8
"""Tools this near to a right one may be right as well."""
VARIANTS = 4
LONGEST = 160
SEED = 5

Matrix = npt.NDArray[np.float32]


@dataclass(slots=True)
class Lists:
    """Texts, and rows of which each names its texts by number; a tool has `VARIANTS` texts in a row."""

    texts: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    right: list[list[int]] = field(default_factory=list)
    near: list[list[int]] = field(default_factory=list)

    def text(self, text: str) -> int:
        self.texts.append(text)
        return len(self.texts) - 1


def texts_of(tool: Tool, random: Random) -> list[str]:
    """As the package writes it down, with and without its server in front, and with fields left out."""
    served = replace(tool, category="")
    title, _, rest = tool_text(served).partition("\n")
    in_front = f"{tool.category}: {title}\n{rest}" if tool.category else tool_text(tool)
    return [tool_text(tool), in_front, *(thinned_text(tool, random) for _ in range(VARIANTS - 2))]


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    right: frozenset[str]
    vector_of: str
    """The request whose neighbours it has."""


def asked_of(bench: Bench, random: Random) -> Iterator[Asked]:
    """Every train request, some in other words; for labelled sets also what a tool's own description asks."""
    alike = twins(bench)
    for query in bench.of_split("train"):
        right = frozenset(twin for id in query.right() for twin in alike[id])
        yield Asked(query.text, right, query.text)
        english = in_other_words(query.text)
        if english:
            yield Asked(english, right, query.text)
        elif random.random() < 0.15:
            yield Asked(reword(query.text, random), right, query.text)
    for tool in bench.tools if bench.name in LABELLED else ():
        own = frozenset(alike[tool.id])
        request = ask_for(tool, random) if random.random() < 0.8 else name_of(tool)
        yield Asked(request, own, request)


def add(lists: Lists, bench: Bench, encode: Encoder, random: Random) -> None:
    base = {}
    for tool in bench.tools:
        base[tool.id] = len(lists.texts)
        lists.texts += texts_of(tool, random)
    asked = list(asked_of(bench, random))
    spoken = sorted({each.vector_of for each in asked})
    vectors = dict(zip(spoken, encode(spoken), strict=True))
    known = encode([tool_text(tool) for tool in bench.tools])
    ids = [tool.id for tool in bench.tools]
    place = {id: at for at, id in enumerate(ids)}
    groups = np.array([_catalogue(bench, id) for id in ids])
    alike = known @ known.T > ALIKE
    lists.sets.append(bench.name)
    for each in asked:
        right = [place[id] for id in sorted(each.right)]
        near = nearest(known @ vectors[each.vector_of], right, alike, groups)
        lists.of.append(len(lists.sets) - 1)
        lists.requests.append(lists.text(each.text))
        lists.right.append([base[ids[at]] for at in right])
        lists.near.append([base[ids[at]] for at in near])


def nearest(
    similar: Matrix, right: Sequence[int], alike: npt.NDArray[np.bool_], groups: npt.NDArray[np.str_]
) -> list[int]:
    """The wrong tools, nearest first: those of the same catalogue as what is right, then those of others."""
    spared = alike[right].any(0)
    spared[right] = True
    order = [at for at in np.argsort(-similar, kind="stable")[:400].tolist() if not spared[at]]
    own = set(groups[right].tolist())
    inside = [at for at in order if groups[at] in own]
    if len(own) == len(set(groups.tolist())):
        return inside[:NEAR]
    all_inside = [
        at for at in np.argsort(-similar, kind="stable").tolist() if groups[at] in own and not spared[at]
    ]
    outside = [at for at in order if groups[at] not in own]
    chosen = all_inside[:OWN_FIRST]
    return [*chosen, *outside[: NEAR - len(chosen)]]


def _catalogue(bench: Bench, id: str) -> str:
    return id.partition(" ")[0] if bench.name.startswith("written_") else ""


def written_sets(folder: Path) -> Iterator[Bench]:
    for each in sorted(one for one in folder.iterdir() if one.is_dir()):
        read = [read_catalogue(path) for path in sorted(each.glob("*.txt"))]
        if each.name in RIVALS:
            yield from (joined(f"written_{each.name}_{one.name}", [one]) for one in read)
        else:
            yield joined(f"written_{each.name}", read)


def tokens_of(
    texts: Sequence[str], tokenizer: Tokenizer
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]:
    """All tokens in one row, and where each text ends; without what stands around a text."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    found = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    ends = np.cumsum([len(each.ids) for each in found]).astype(np.int32)
    return np.concatenate([np.array(each.ids, np.uint16) for each in found]), ends


def flat(rows: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    ends = np.cumsum([len(row) for row in rows]).astype(np.int32)
    return np.array([each for row in rows for each in row], np.int32), ends


def write(lists: Lists, out: Path) -> None:
    words, ends = tokens_of(lists.texts, Tokenizer.from_file(str(SHIPPED / "tokenizer.json")))
    right, right_ends = flat(lists.right)
    near, near_ends = flat(lists.near)
    np.savez_compressed(
        out, words=words, ends=ends, sets=np.array(lists.sets), of=np.array(lists.of, np.int16),
        requests=np.array(lists.requests, np.int32), right=right, right_ends=right_ends,
        near=near, near_ends=near_ends,
    )  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bench", type=Path, required=True)
    options.add_argument("--catalogues", type=Path, default=Path("train/catalogues"))
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    lists, encode, random = Lists(), Encoder.open(), Random(SEED)
    for bench in (*(read_bench(given.bench / name) for name in LABELLED), *written_sets(given.catalogues)):
        add(lists, bench, encode, random)
        print(bench.name, len(lists.requests), flush=True)
    write(lists, given.out)


if __name__ == "__main__":
    main()
