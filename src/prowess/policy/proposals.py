"""A change of a policy file before it is made: what its text becomes, and what that does to whom.

Above: `engine.policy`, which journals what is written. Below: `edits`, `diff` and `check`. What would leave
a profile that cannot be used or a file that cannot be read is never proposed.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prowess.errors import NotFound, Outdated, PolicyError
from prowess.policy.changes import ProfileChange
from prowess.policy.check import findings
from prowess.policy.definitions import PolicyDefinitions, define, read_definitions
from prowess.policy.diff import PolicyDifference, PolicySide, policy_diff
from prowess.policy.documents import parse_toml, parse_yaml
from prowess.policy.edits import edited
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from prowess.text.rewriting import difference, replace_text, text_digest
from prowess.types import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyProposal:
    """What a person confirms."""

    file: Path
    before: str
    """The text of the file, and what it becomes."""
    after: str
    profile: str = ""
    changes: tuple[str, ...] = ()
    effect: PolicyDifference
    """Who gains and loses what."""
    problems: tuple[Problem, ...] = ()
    """What would be wrong then and is not now."""
    undoes: str = ""
    """The change that it takes back."""

    @property
    def digest(self) -> str:
        """Names the text that was looked at."""
        return text_digest(self.before)

    @property
    def lines(self) -> tuple[str, ...]:
        """The difference of the text, as a pull request shows it."""
        return difference(self.file.name, self.before, self.after)


@dataclass(frozen=True, slots=True)
class PolicySource:
    """The files in force, and what a program defined beside them."""

    files: Sequence[Path]
    definitions: Sequence[PolicyDefinitions]

    def propose(
        self, moment: PolicySnapshot, agents: Mapping[str, str], profile: str, changes: Sequence[str]
    ) -> PolicyProposal:
        """These changes of a profile, where it is defined."""
        file = self._file_of(profile, moment.rules)
        before = read_text(file)
        if not changes:
            raise PolicyError(f"profile {profile!r}", "no change is named", "say one, such as level=read")
        after = edited(before, file, profile, [ProfileChange.read(one) for one in changes])
        effect, problems = self._effect(moment, agents, file, after)
        return PolicyProposal(
            file=file, before=before, after=after, profile=profile, changes=tuple(changes), effect=effect,
            problems=problems,
        )  # fmt: skip

    def replaced(
        self,
        moment: PolicySnapshot,
        agents: Mapping[str, str],
        file: Path,
        before: str,
        after: str,
        undoes: str,
    ) -> PolicyProposal:
        """A file with another text."""
        effect, problems = self._effect(moment, agents, file, after)
        return PolicyProposal(
            file=file, before=before, after=after, effect=effect, problems=problems, undoes=undoes
        )

    def _file_of(self, profile: str, rules: RuleSet) -> Path:
        if rules.unusable:
            raise PolicyError("policy", rules.unusable, "correct it first; see: prowess policy check")
        if profile not in rules.profiles:
            raise NotFound("profile", profile, rules.profiles, "see: prowess policy check")
        found = [file for file in self.files if profile in read_definitions(file).profiles]
        if not found:
            raise PolicyError(f"profile {profile!r}", "is defined by a program", "change it there")
        return found[-1]

    def _effect(
        self, moment: PolicySnapshot, agents: Mapping[str, str], file: Path, after: str
    ) -> tuple[PolicyDifference, tuple[Problem, ...]]:
        parse = parse_toml if file.suffix == ".toml" else parse_yaml
        changed = define(parse(after, file.name), file.name)
        parts = [changed if one.resolve() == file.resolve() else read_definitions(one) for one in self.files]
        rules = RuleSet.of([*parts, *self.definitions])
        rules.holding("")  # what every agent has must be usable
        known = set(findings(moment.rules, moment.names))
        new = tuple(one for one in findings(rules, moment.names) if one not in known)
        wrong = next((one for one in new if one.severity == "error"), None)
        if wrong:
            raise PolicyError(wrong.place, wrong.what, wrong.remedy)
        reviewed = moment.standing.reviewed
        bound = {agent: name for agent, name in agents.items() if agent in moment.standing.agents}
        sides = [
            PolicySide(rules=one, names=moment.names, reviewed=reviewed, agents={**one.bound, **bound})
            for one in (moment.rules, rules)
        ]
        return policy_diff(*sides), new


def write(proposal: PolicyProposal) -> None:
    """Put the new text in the place of the one that was looked at, whole or not at all."""
    file = Path(os.path.realpath(proposal.file))
    if read_text(file) != proposal.before:
        raise Outdated(proposal.file.name)
    try:
        replace_text(file, proposal.after)
    except OSError as failure:
        what = f"cannot be written ({failure.strerror})"
        raise PolicyError(proposal.file.name, what, "see who may write it and its folder") from None


def read_text(file: Path) -> str:
    """A policy file as it is, line endings included."""
    read_definitions(file)  # within bounds, and as anybody else reads it
    return file.read_bytes().decode("utf-8")
