"""Choose letters that the guard's network knows besides the encoder's words: `python -m train.guard_letters`.

Counts what the texts of the guard, and messages of programs where they are given, write in letters that the
encoder's words do not have; those that come most often get the places of its vocabulary that are free. The
network must be taught anew afterwards.
"""

import argparse
import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tokenizers.normalizers import BertNormalizer

from prowess.guard.networks import ENCODER, FREE, LETTERS, SHIPPED, folded
from train.guard_messages import messages
from train.guard_texts import examples

MOST_MESSAGES = 12_000
OF_TEXTS = 6
"""How much more a text of the guard counts than a message."""


def pieces(text: str) -> Iterator[str]:
    """Each letter as the tokenizer would spell it: by itself, or as the rest of a word."""
    before = " "
    for letter in BertNormalizer(lowercase=True, handle_chinese_chars=True).normalize_str(folded(text)):
        if unicodedata.category(letter)[0] in "LM":
            begins = "\u3400" <= letter <= "\u9fff" or not before.isalnum()
            yield letter if begins else f"##{letter}"
        before = letter


def weighed(packages: Path | None) -> Iterator[tuple[str, int]]:
    yield from ((one.text, OF_TEXTS) for one in examples() if not one.text.isascii())
    for said in (messages(packages) if packages else {}).values():
        yield from ((text, 1) for text in islice(said.values(), MOST_MESSAGES))


def most(texts: Iterable[tuple[str, int]], vocabulary: frozenset[str], size: int) -> list[str]:
    counts: Counter[str] = Counter()
    for text, weight in texts:
        for piece in pieces(text):
            if piece not in vocabulary:
                counts[piece] += weight
    return [piece for piece, _ in counts.most_common(size)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose the letters that the network knows besides.")
    parser.add_argument("--packages", type=Path, help="a folder of unpacked packages with translations")
    given = parser.parse_args()
    words = ENCODER / "tokenizer.json"
    vocabulary = frozenset(json.loads(words.read_text(encoding="utf-8"))["model"]["vocab"])
    free = sum(FREE.fullmatch(name) is not None for name in vocabulary)
    letters = most(weighed(given.packages), vocabulary, free)
    known = {"tokenizer": hashlib.sha256(words.read_bytes()).hexdigest(), "letters": letters}
    said = json.dumps(known, ensure_ascii=False)
    SHIPPED.with_name(LETTERS).write_text(f"{said}\n", encoding="utf-8")
    print(f"{len(letters)} letters")


if __name__ == "__main__":
    main()
