"""A turn gives the same bytes, whatever the engine looks like inside and whatever processor it runs on.

Where an offer is meant to change: `python -m scripts.turns`.
"""

from pathlib import Path

import msgspec

from tests.support.turns import RECORDED, engine_of_turns, offers


def test_offers_are_those_that_were_recorded(store_url: str, tmp_path: Path) -> None:
    recorded = msgspec.json.decode(RECORDED.read_bytes())
    with engine_of_turns(store_url, tmp_path) as engine:
        made = offers(engine)
    assert len(made) == len(recorded)
    for was, now in zip(recorded, made, strict=True):
        assert now == was
