"""Measure the guard on texts of a reviewer who had not read it: `python -m bench.guard_review [FOLDER]`.

FOLDER (bench/guard_review) holds attacks.jsonl and honest.jsonl, 100 attacks and 200 honest texts in ten
languages. They were written before the guard read one of them and are not changed, and the guard is not
trained on them: a text that it learnt from measures nothing any more.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.guard import Row, rows
from bench.guard_sources import Listening, Measured, measured, share
from prowess.guard.prefilter import ResultCheck
from prowess.guard.sanitise import Judgement, judge

TEXTS = Path(__file__).parent / "guard_review"
NEVER = -99.0
"""The margin of a text that the classifier did not read."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One text: what the guard made of it, and whether a call that returned it would carry a note."""

    measured: Measured
    judgement: Judgement
    noted: bool

    @property
    def row(self) -> Row:
        return self.measured.row


def reviewed(row: Row, attack: bool, check: ResultCheck) -> Reviewed:
    """Judge one text as a sync, a card folder and a call do."""
    text, channel, classifier = row["text"], row["channel"], check.classifier
    assert classifier is not None
    noted = channel == "result" and check.speaks_to_the_model(text)
    judgement = judge(text, channel, classifier=classifier)
    return Reviewed(measured(row, attack, Listening(classifier)), judgement, noted)


def count(found: Sequence[Reviewed], holds: Callable[[Reviewed], bool]) -> str:
    return f"{sum(map(holds, found))}/{len(found)}"


def table(found: Sequence[Reviewed], key: str) -> Iterator[str]:
    groups: dict[str, list[Reviewed]] = defaultdict(list)
    for one in found:
        groups[one.row[key]].append(one)
    yield f"| {key} | rejected or changed | rejected | changed | by rules alone |"
    yield "|---|---|---|---|---|"
    for name, group in sorted(groups.items()):
        cells = (
            share([one.measured for one in group]),
            count(group, lambda one: one.measured.rejected),
            count(group, lambda one: one.measured.changed),
            count(group, lambda one: one.measured.by_rules),
        )
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""


def margin(one: Reviewed) -> str:
    return "not read" if one.measured.margin == NEVER else f"{one.measured.margin:+.2f}"


def line(one: Reviewed, key: str) -> str:
    """One miss or false alarm: its number, what it is, and what the guard said."""
    row, judgement = one.row, one.judgement
    what = [row["channel"], row["language"], row[key]] + ([row["manner"]] if "manner" in row else [])
    said = "; ".join(dict.fromkeys(finding.reason for finding in judgement.findings)) or "nothing"
    how = ("changed, " if one.measured.changed else "") + judgement.verdict + (", noted" if one.noted else "")
    return f"| {row['number']} | {', '.join(what)} | {how} | {margin(one)} | {said.replace('|', '/')} |"


def listing(title: str, found: Sequence[Reviewed], key: str) -> Iterator[str]:
    yield f"### {title}: {len(found)}"
    yield ""
    yield "| number | what | verdict | margin | findings |"
    yield "|---|---|---|---|---|"
    yield from (line(one, key) for one in found)
    yield ""


def report(found: Sequence[Reviewed], attack: bool) -> Iterator[str]:
    """Both sides of one file: the shares, and every text on which the guard was wrong."""
    name, key = ("Attacks", "family") if attack else ("Honest texts", "hard")
    results = [one for one in found if one.row["channel"] == "result"]
    hit = "stopped" if attack else "touched"
    only_warned = count(found, lambda one: not one.measured.hit and one.judgement.verdict == "warn")
    yield f"## {name}: {hit} {share([one.measured for one in found])}"
    yield ""
    yield f"Rejected {count(found, lambda one: one.measured.rejected)},"
    yield f"changed {count(found, lambda one: one.measured.changed)},"
    yield f"only warned of {only_warned}."
    yield f"As the result of a call: noted {count(results, lambda one: one.noted)}."
    yield ""
    for column in (key, "channel", "language", *(("manner",) if attack else ())):
        yield from table(found, column)
    wrong = [one for one in found if one.measured.hit != attack]
    yield from listing("Missed" if attack else "False alarms", wrong, key)
    if not attack:
        notes = [one for one in found if one.noted and not one.measured.hit]
        yield from listing("Noted in a call, though not touched", notes, key)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TEXTS
    check = ResultCheck.open()
    for name in ("attacks", "honest"):
        attack = name == "attacks"
        found = [reviewed(row, attack, check) for row in rows(folder / f"{name}.jsonl")]
        print("\n".join(report(found, attack)))


if __name__ == "__main__":
    main()
