"""The policy files, watched: what they define now, or base alone when they cannot be used."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prowess.errors import PolicyError, ProwessError
from prowess.policy.definitions import PolicyDefinitions, read_definitions
from prowess.policy.ruleset import NOBODY, RuleSet
from prowess.types import Problem

SOURCE = "policy"

Stamp = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    rules: RuleSet
    problems: tuple[Problem, ...] = ()


def load(files: Sequence[Path], parts: Sequence[PolicyDefinitions] = ()) -> Loaded:
    """Read everything, or nothing: half a policy may lack the half that denies."""
    try:
        rules = RuleSet.of([*map(read_definitions, files), *parts])
        rules.holding(NOBODY)  # what every agent has must be usable, or nothing is
        return Loaded(rules)
    except ProwessError as error:
        return Loaded(RuleSet.base_only(str(error)), (as_problem(error),))


def as_problem(error: ProwessError) -> Problem:
    place = error.place if isinstance(error, PolicyError) else SOURCE
    what = error.message.removeprefix(f"{place}: ")
    what += "; until then agents have only what comes with every profile"
    return Problem(SOURCE, place, what, error.remedy)


def stamp_files(files: Sequence[Path]) -> Stamp:
    """Whether any of them changed, at the price of one look at each."""
    return tuple(_stamp(file) for file in files)


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    # The time of the last change to the file itself: unlike the others, nobody can put it back.
    return (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino)
