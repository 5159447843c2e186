"""How far the token estimate is from the exact count, on texts of this machine.

    python bench/tokens.py [NAME=GLOB ...]

Needs the extra `tokens`. Reads Python's own documentation and sources unless told other files;
a .gz file is unpacked. Prints one line per set.
"""

import glob
import gzip
import sys
import sysconfig
from pathlib import Path

from prowess.tokens import counter, estimate

PIECE = 1500


def texts(pattern: str) -> list[str]:
    pieces = []
    for name in sorted(glob.glob(pattern, recursive=True))[:400]:
        raw = Path(name).read_bytes()
        text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8", "ignore")
        pieces += [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    return [piece for piece in pieces if piece.strip()][:1500]


def main() -> None:
    exact = counter()
    if exact.name != "o200k":
        sys.exit('the exact counter is missing; run: pip install "prowess[tokens]"')
    library = sysconfig.get_path("stdlib")
    sets = {"code": f"{library}/*.py", "prose": f"{library}/pydoc_data/topics.py"}
    sets |= dict(argument.split("=", 1) for argument in sys.argv[1:])
    for name, pattern in sets.items():
        pairs = [(estimate(text), exact.count(text)) for text in texts(pattern)]
        total = sum(e for e, _ in pairs) / sum(c for _, c in pairs) - 1
        error = sum(abs(e - c) / c for e, c in pairs) / len(pairs)
        print(f"{name:10} {len(pairs):5} texts  total {total:+.1%}  mean error {error:.1%}")


if __name__ == "__main__":
    main()
