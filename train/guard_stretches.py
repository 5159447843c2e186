"""Cut the guard's texts into stretches, as tokens: `python -m train.guard_stretches --out FOLDER`.

`texts.jsonl` says of each text what it is, `stretches.npz` holds the tokens as the reader will see them, what
a text hides brought out beside what it says. Texts that only measure are cut too, each with the name of its
part; `guard_teach` learns from the part `train` alone. What rules find is written by `guard_evidence`.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from prowess.guard.hidden import Hidden, hidden
from prowess.guard.networks import (
    ENCODER,
    LETTERS,
    SHIPPED,
    asked,
    folded,
    ids_of,
    opened_tokenizer,
    readable,
    stretches,
)
from prowess.guard.parsed_text import MOST_HIDDEN
from prowess.guard.quotations import without_frontmatter
from prowess.guard.sanitise import DOCUMENTS, HIDDEN_READ
from train.catalogues import read_catalogue
from train.guard_disguises import disguised
from train.guard_texts import (
    CHANNELS,
    ROOT,
    UNSEEN,
    Example,
    corpus,
    examples,
    of_many_authors,
    translations,
)

SHORT, SHORTER = 900, 300
"""Longer attacks are not set into other texts, and not disguised."""
TIMES = 3
"""How often an attack is set into honest texts."""
DISGUISED = 0.35
IN_ITS_LANGUAGE = 0.6
"""How often the honest text around an attack is in the same language."""
MOST = 40
OPEN, HIDDEN = range(2)
SEED = 11
SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
NOT_JUDGED = ("catalogues", "translations", "packages", "bench", "tongues", "languages")


@dataclass(frozen=True, slots=True)
class Cut:
    """One text: what is known about it, and its stretches."""

    about: dict[str, Any]
    said: list[str]
    kinds: list[int]
    """Of each stretch whether it stands in the open or is hidden."""


def cut(one: Example, part: str) -> Cut:
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    about = {
        "id": one.id, "part": part, "attack": one.attack, "channel": one.channel, "by": one.by,
        "source": one.source, "family": one.family, "language": one.language, "hard": one.hard,
        "doubt": bool(one.doubt),
    }  # fmt: skip
    said = said_openly(body, one.channel)
    hides = () if one.source in NOT_JUDGED and part == "train" else hidden(body)
    brought = said_hidden(hides, one.channel)
    return Cut(about, said + brought, [OPEN] * len(said) + [HIDDEN] * len(brought))


def said_openly(body: str, channel: str) -> list[str]:
    plain = folded(body)
    return [readable(asked(plain[start:end], channel)) for start, end in stretches(plain, tokens())[:MOST]]


def said_hidden(hides: Sequence[Hidden], channel: str) -> list[str]:
    """What the judge brings out of a text, read apart."""
    found = []
    for one in hides[:HIDDEN_READ]:
        plain = folded(one.said[:MOST_HIDDEN])
        found += [
            readable(asked(plain[start:end], channel, hidden=True))
            for start, end in stretches(plain, tokens())[:6]
        ]
    return found


@cache
def tokens() -> Tokenizer:
    known = json.loads(SHIPPED.with_name(LETTERS).read_text(encoding="utf-8"))
    return opened_tokenizer(ENCODER / "tokenizer.json", known["letters"])


def variations(seen: Sequence[Example], chance: random.Random) -> Iterator[Example]:
    """Attacks set into honest texts, of any channel; each counts as by its author."""
    attacks = [one for one in seen if one.attack and len(one.text) < SHORT and not one.doubt]
    honest = [one for one in seen if not one.attack and not one.doubt and len(one.text) > 60]
    alike: dict[str, list[Example]] = {}
    for one in honest:
        alike.setdefault(one.language, []).append(one)
    for one in attacks:
        for number in range(TIMES):
            hides = len(one.text) < SHORTER and chance.random() < DISGUISED
            attack = replace(one, text=disguised(one.text, chance)) if hides else one
            own_language = alike.get(one.language, honest)
            around = chance.choice(own_language if chance.random() < IN_ITS_LANGUAGE else honest)
            text, channel = _set_into(around, attack, chance)
            yield replace(one, id=f"{one.id}+{number}", text=text, channel=channel)


def _set_into(around: Example, attack: Example, chance: random.Random) -> tuple[str, Any]:
    said, span = sentences(around.text), chance.randint(1, 4)
    at = chance.randint(0, len(said))
    parts = [*said[max(0, at - span) : at], attack.text, *said[at : at + span]]
    return chance.choice((" ", "\n", "\n\n")).join(parts), around.channel


def sentences(text: str) -> list[str]:
    return [piece for piece in SENTENCE.split(text) if piece.strip()]


def in_catalogues(chance: random.Random) -> Iterator[Example]:
    """Descriptions, parameters and requests of the written catalogues, without a label."""
    for path in sorted((ROOT / "train" / "catalogues").rglob("*.txt")):
        bench = read_catalogue(path)
        said = [(tool.description, "tool_description") for tool in bench.tools]
        said += [
            (text, "schema_field") for tool in bench.tools[::3] for text in (tool.parameters or {}).values()
        ]
        said += [(query.text, chance.choice(CHANNELS)) for query in bench.queries[::8]]
        for number, (text, channel) in enumerate(said):
            yield Example(f"{path.stem}-{number}", text, channel, False, "catalogues")  # type: ignore[arg-type]


def parts(packages: Path | None) -> Iterator[tuple[str, Example]]:
    seen = [*examples(), *(translations(packages) if packages else ())]
    chance = random.Random(SEED)
    yield from (("train", one) for one in seen)
    yield from (("test", one) for one in of_many_authors("test"))
    yield from ((folder.name, one) for folder in UNSEEN for one in corpus(folder))
    mixed = [one for one in seen if one.labelled or one.source == "tongues"]
    yield from (("set in", one) for one in variations(mixed, chance))
    yield from (("unlabelled", one) for one in in_catalogues(chance))


def cut_one(chosen: tuple[str, Example]) -> Cut:
    part, one = chosen
    return cut(one, part)


def flat(tokenizer: Tokenizer, said: Sequence[str]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    """All tokens in a row, and where each stretch ends."""
    found = [ids_of(one, tokenizer) for one in said]
    ends = np.cumsum([len(ids) for ids in found])
    return np.concatenate([np.array(ids, np.uint16) for ids in found]), ends.astype(np.uint32)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cut the guard's texts into stretches.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--packages", type=Path, help="unpacked packages with translations of their messages")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="take one text of so many, to try things out")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chosen = list(parts(given.packages))[:: given.every]
    with ProcessPoolExecutor(given.workers) as workers:
        found = [one for one in workers.map(cut_one, chosen, chunksize=500) if one.said]
    said, ends = flat(tokens(), [piece for one in found for piece in one.said])
    owners = np.repeat(np.arange(len(found)), [len(one.said) for one in found])
    kinds = np.array([kind for one in found for kind in one.kinds], np.uint8)
    np.savez_compressed(
        given.out / "stretches.npz", tokens=said, ends=ends, owners=owners.astype(np.uint32), kinds=kinds
    )
    with gzip.open(given.out / "texts.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one.about) + "\n" for one in found)
    print(f"{len(found)} texts, {len(ends)} stretches, {len(said)} tokens")


if __name__ == "__main__":
    main()
