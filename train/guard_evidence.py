"""What the rules find in each labelled text: `python -m train.guard_evidence --cut FOLDER`. Needs minutes.

Written beside the stretches of `guard_stretches`, as `judged.jsonl.gz`, for `guard_limits`. Anew after a
change of the rules; the network need not be taught again for that.
"""

import argparse
import gzip
import json
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from prowess.guard.parsed_text import MOST_HIDDEN, ParsedText, read, signals_of
from prowess.guard.quotations import QuotedSpans, without_frontmatter
from prowess.guard.sanitise import DOCUMENTS, neutralise
from prowess.guard.signals import heaviest
from train.guard_texts import Example, examples

MARKER = re.compile(r"^(User|Assistant|System):", re.IGNORECASE | re.MULTILINE)
TAG = re.compile(r"</?(?:user|assistant|system)>", re.IGNORECASE)
JUDGED = "judged.jsonl.gz"


def judged(one: Example) -> dict[str, Any]:
    """What rules and neutralising find in a text that sets limits."""
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    return {"id": one.id, "source": one.source, **evidence(read(body)), **neutralised(one)}


def evidence(seen: ParsedText) -> dict[str, Any]:
    """What the rules find: how heavy in the open, anywhere and in what is hidden, and how odd the hiding."""
    open_weight, carrying = heaviest(signal for signal in seen.signals if not signal.shown)
    any_weight, _ = heaviest(seen.signals)
    inside = [
        (one.weight, heaviest(signals_of(one.said[:MOST_HIDDEN], QuotedSpans()))[0]) for one in seen.hidden
    ]
    speaking = [(odd, weight) for odd, weight in inside if weight and not (odd == 0 and weight <= any_weight)]
    return {
        "open": open_weight,
        "any": any_weight,
        "families": [one.family for one in carrying],
        "odd": max((odd for odd, _ in inside), default=0),
        "hidden": max((odd + weight for odd, weight in speaking), default=0),
    }


def neutralised(one: Example) -> dict[str, Any]:
    """Whether the door changes it, and whether by more than the two rewrites that touch nobody."""
    after = neutralise(one.text, one.channel)
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    usual = TAG.sub("", MARKER.sub(r"[\1]:", body))
    return {"changed": after.changed, "touched": after.changed and after.text != usual}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the rules find in each labelled text.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    labelled = [one for one in examples() if one.labelled]
    with ProcessPoolExecutor(given.workers) as workers:
        found = list(workers.map(judged, labelled, chunksize=200))
    with gzip.open(given.cut / JUDGED, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in found)
    print(f"{len(found)} texts")


if __name__ == "__main__":
    main()
