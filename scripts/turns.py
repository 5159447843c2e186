"""Record the offers of `tests/engine/test_turn_golden.py` again: `python -m scripts.turns`.

Only after a change that is meant to change offers: read what differs before it is kept.
"""

import sys
import tempfile
from pathlib import Path

import msgspec

from tests.support.turns import RECORDED, engine_of_turns, offers


def recorded() -> bytes:
    with (
        tempfile.TemporaryDirectory() as folder,
        engine_of_turns(f"sqlite:{folder}/store.db", Path(folder)) as engine,
    ):
        return msgspec.json.encode(offers(engine))


if __name__ == "__main__":
    RECORDED.write_bytes(recorded())
    sys.stdout.write(f"{RECORDED} is written\n")
