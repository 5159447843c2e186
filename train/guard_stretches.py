"""Cut the guard's texts into stretches, as tokens: `python -m train.guard_stretches --out FILE`.

What is cut are the texts that the reader is taught with (every fifth is kept back, `guard_texts.kept_back`)
and variations without a label: attacks set into honest texts, single sentences of both, and honest texts in
quantity. The reader learns from these what several readers before it think of them (`guard_reader.py`).
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from prowess.context.quoting import without_frontmatter
from prowess.context.reader import ENCODER, TOKENS, asked, folded, stretches
from prowess.context.sanitise import DOCUMENTS
from train.catalogues import read_catalogue
from train.guard_texts import CHANNELS, ROOT, Example, examples, kept_back

EVERY = 4
"""Of honest texts in quantity, one of so many is taught with."""
SHORT = 900
"""Longer attacks are not set into other texts."""
TIMES = 5
"""How often an attack is set into honest texts, and how many pieces are taken of a text."""
MOST = 40
SEED = 11
SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")

Said = tuple[str, str]
"""A text, and its channel."""


def taught_with() -> list[Example]:
    """All texts but those kept back; of the honest ones in quantity a few."""
    seen = [one for one in examples() if not kept_back(one)]
    many = {one.id for one in [one for one in seen if in_quantity(one)][::EVERY]}
    return [one for one in seen if not in_quantity(one) or one.id in many]


def in_quantity(one: Example) -> bool:
    return one.source in ("bench", "packages")


def variations(seen: Sequence[Example], chance: random.Random) -> Iterator[Said]:
    """Texts made of those given; what they are, nobody says."""
    attacks = [one for one in seen if one.attack]
    honest = [one for one in seen if not one.attack and not in_quantity(one)]
    for one in attacks:
        if len(one.text) < SHORT:
            yield from (_set_into(chance.choice(honest), one, chance) for _ in range(TIMES))
    for one in (*attacks, *honest):
        said = sentences(one.text)
        for _ in range(TIMES if len(said) > 1 else 0):
            start = chance.randrange(len(said))
            yield " ".join(said[start : start + chance.randint(1, 3)]), one.channel
        other = chance.choice(attacks if one.attack else honest)
        yield " ".join([*said[:3], *sentences(other.text)[:2]]), one.channel


def _set_into(around: Example, attack: Example, chance: random.Random) -> Said:
    said, span = sentences(around.text), chance.randint(1, 4)
    at = chance.randint(0, len(said))
    parts = [*said[max(0, at - span) : at], attack.text, *said[at : at + span]]
    return chance.choice((" ", "\n", "\n\n")).join(parts), around.channel


def sentences(text: str) -> list[str]:
    return [piece for piece in SENTENCE.split(text) if piece.strip()]


def in_catalogues(chance: random.Random) -> Iterator[Said]:
    """Descriptions, parameters and requests of the written catalogues, and texts in quantity."""
    for path in sorted((ROOT / "train" / "catalogues").rglob("*.txt")):
        bench = read_catalogue(path)
        yield from ((tool.description, "tool_description") for tool in bench.tools)
        yield from ((said, "schema_field") for tool in bench.tools[::3] for said in tool.parameters.values())
        yield from ((query.text, chance.choice(CHANNELS)) for query in bench.queries[::8])
    yield from ((one.text, one.channel) for one in examples() if in_quantity(one) and not kept_back(one))


def cut(text: str, channel: str) -> list[str]:
    """The stretches of a text, as the reader will see them."""
    plain = folded(without_frontmatter(text) if channel in DOCUMENTS else text)
    said = [asked(plain[start:end], channel) for start, end in stretches(plain)[:MOST]]
    return [each.encode("utf-8", "replace").decode() for each in said]


def flat(tokenizer: Tokenizer, said: Sequence[str]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    """All tokens in a row, and where each stretch ends."""
    tokens = [found.ids for found in tokenizer.encode_batch(list(said))]
    ends = np.cumsum([len(ids) for ids in tokens])
    return np.concatenate([np.array(ids, np.uint16) for ids in tokens]), ends.astype(np.uint32)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cut the guard's texts into stretches.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take one text of so many, to try things out")
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(ENCODER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS)
    chance = random.Random(SEED)
    seen = taught_with()[:: given.every]
    texts = [(one, said) for one in seen if (said := cut(one.text, one.channel))]
    unlabelled = [*variations(seen, chance), *list(in_catalogues(chance))[:: given.every]]
    more = dict.fromkeys(piece for said, channel in unlabelled for piece in cut(said, channel)[:4])
    tokens, ends = flat(tokenizer, [piece for _, said in texts for piece in said])
    more_tokens, more_ends = flat(tokenizer, list(more))
    owners = np.repeat(np.arange(len(texts)), [len(said) for _, said in texts])
    attack = np.array([one.attack for one, _ in texts])
    np.savez_compressed(
        given.out,
        tokens=tokens,
        ends=ends,
        owners=owners,
        attack=attack,
        more_tokens=more_tokens,
        more_ends=more_ends,
    )
    print(f"{len(texts)} texts, {len(ends)} stretches, {len(more_ends)} more without a label")


if __name__ == "__main__":
    main()
