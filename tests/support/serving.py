"""How soon a node serves again, and what it was told is safe."""

import time

from prowess.engine import Engine
from prowess.errors import ProwessError
from prowess.types import Outcome

SECONDS_TO_SERVE = 5.0


def served_again(engine: Engine) -> float:
    """Seconds until an offer is made."""
    begun = time.monotonic()
    while True:
        try:
            engine.offer("send a mail")
            return time.monotonic() - begun
        except ProwessError:
            assert time.monotonic() - begun < 30, "it never came back"
            time.sleep(0.05)


def acknowledged_turns(engine: Engine, count: int) -> set[str]:
    """Offers that were made, each with its outcome."""
    offers = [engine.offer("send a mail").id for _ in range(count)]
    for offer in offers:
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=True))
    return set(offers)


def lost_turns(engine: Engine, offers: set[str]) -> set[str]:
    """Those of which the journal lacks the offer or the outcome."""
    engine.journal.verify()
    entries = engine.journal.after(())
    kept = [{e.data["offer"] for e in entries if e.type == kind} for kind in ("offer", "outcome")]
    return offers - (kept[0] & kept[1])
