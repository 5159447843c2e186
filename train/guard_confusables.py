"""Write the table of letters that look like Latin ones: `python -m train.guard_confusables CONFUSABLES.JSON`.

The file is part of the PyPI package `confusable-homoglyphs` (MIT), which has it from Unicode's own
confusables.txt (UTS #39, Unicode License v3). What stands in `look_alikes.txt`, chosen by hand, goes first.
"""

import json
import sys
from pathlib import Path

from prowess.text.characters import CONFUSABLES, TABLE_SIZE

HEAD = "# Unicode confusables (UTS #39) of one Latin letter each. (c) Unicode, Inc.; Unicode License v3.\n"


def rows(held: dict[str, list[dict[str, str]]]) -> list[str]:
    """For each Latin letter, all single characters outside ASCII that look like it."""
    doubles: dict[str, set[str]] = {}
    for letter, found in held.items():
        if len(letter) == 1 and letter.isascii() and letter.isalpha():
            own = {one["c"] for one in found if len(one["c"]) == 1 and 0x7F < ord(one["c"]) < TABLE_SIZE}
            doubles.setdefault(letter.lower(), set()).update(own)
    return [
        f"{letter} {' '.join(f'{ord(one):04x}' for one in sorted(found))}\n"
        for letter, found in sorted(doubles.items())
        if found
    ]


def main() -> None:
    held = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    CONFUSABLES.write_text(HEAD + "".join(rows(held)), encoding="utf-8")


if __name__ == "__main__":
    main()
