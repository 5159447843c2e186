"""What binds an agent's name, so that a token can be held to the one it was issued under.

Above: `tokens`, which writes it beside each token, and `Policy`, which knows it. The store binds a name at
one time; a policy file binds it to a profile. Edits that leave the name in its profile keep the binding; a
name that moves to another profile, or away and back where anybody could see it, is another agent.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prowess.policy.agents import Agent, lineage


@dataclass(frozen=True, slots=True)
class Binding:
    text: str = ""
    """`store SINCE` or `file PROFILE`, with that of the parent; empty when nobody binds the name."""
    policy: str = ""
    """Which policy files say so."""
    known: bool = True
    """Not while the policy cannot be used: what it would bind is not known then."""


UNKNOWN = Binding(known=False)


@dataclass(frozen=True, slots=True)
class Bindings:
    """Everyone who is bound, by the store or by the policy files of this process."""

    stored: Mapping[str, Agent]
    stated: Mapping[str, str]
    policy: str
    usable: bool

    def of(self, agent: str) -> Binding:
        """A child is bound as long as everyone above it is."""
        above = [self._own(one) for one in lineage(self.stored, agent)]
        missing = next((one for one in above if not one.text), None)
        policy = next((one.policy for one in above if one.policy), "")
        return missing or Binding(" below ".join(one.text for one in above), policy)

    def since(self, agent: str) -> str:
        """When the store bound it; empty where a policy file does."""
        return self.stored[agent].since if agent in self.stored else ""

    def _own(self, agent: str) -> Binding:
        if agent in self.stored:
            return Binding(f"store {self.stored[agent].since}")
        if agent in self.stated:
            return Binding(f"file {self.stated[agent]}", self.policy)
        return Binding() if self.usable else UNKNOWN


def name_of(files: Sequence[Path]) -> str:
    """One name for these policy files, the same for every process that reads them."""
    return hashlib.sha256("\n".join(str(file) for file in files).encode()).hexdigest()[:16]
