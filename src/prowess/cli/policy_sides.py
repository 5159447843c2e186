"""What the commands about policy stand on: the files in force and what exists, a profile, a whole policy."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

import prowess
from prowess import config as configuration
from prowess.catalogue.view import View
from prowess.cli.session import opened
from prowess.engine.engine import Engine
from prowess.errors import PolicyError
from prowess.policy.definitions import PolicyDefinitions, read_definitions
from prowess.policy.diff import PolicySide
from prowess.policy.patterns import CatalogueNames
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import PolicyState
from prowess.text.counts import counted

ENDINGS = (".yaml", ".yml", ".toml")
STORES = ("sqlite:", "postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Ground:
    """What a command stands on: the policy files in force, who is bound, and what exists."""

    files: tuple[Path, ...]
    moment: PolicySnapshot

    @property
    def names(self) -> CatalogueNames:
        return self.moment.names

    @property
    def reviewed(self) -> frozenset[str]:
        return self.moment.standing.reviewed

    def together(self, further: Sequence[Path]) -> list[Path]:
        """The files in force with others, each once."""
        return list({path.resolve(): path for path in [*self.files, *further]}.values())

    def rules(self, further: Sequence[Path]) -> RuleSet:
        return RuleSet.of([read_definitions(path) for path in self.together(further)])


def ground() -> Ground:
    """The configuration and the store, where there is one; never makes one."""
    chosen = click.get_current_context().find_root().obj or {}
    named = any(chosen.values()) or os.environ.get("PROWESS_STORE")
    if not named and configuration.find(os.environ, Path.cwd()) is None and not Path(".prowess").is_dir():
        return Ground(
            (), PolicySnapshot(RuleSet.of(), PolicyState(), View(version=0, capabilities={}, providers={}))
        )
    with opened() as engine:
        return Ground(engine.policy.files, engine.internals.world().policy)


def chosen_profile(held: Ground, grants: Sequence[Path], profile: str) -> tuple[RuleSet, str]:
    """A profile by its name, or by the path of the file that defines it."""
    path = Path(profile)
    if not profile.endswith(ENDINGS) and not path.is_file():
        return held.rules(grants), profile
    return held.rules([*grants, path]), only_profile(read_definitions(path))


def only_profile(definitions: PolicyDefinitions) -> str:
    names = sorted(definitions.profiles)
    if len(names) != 1:
        what = (
            f"defines {counted(len(names), 'profile')} ({', '.join(names)})"
            if names
            else "defines no profile"
        )
        raise PolicyError(definitions.place, what, "name the one you mean, with --grants FILE")
    return names[0]


def is_whole(side: str) -> bool:
    """Whether a side of a comparison is a whole policy: a store, a prowess.toml, a file of many profiles."""
    if _is_store(side) or _is_config(side):
        return True
    return Path(side).is_file() and len(read_definitions(Path(side)).profiles) != 1


def whole(side: str, grants: Sequence[Path]) -> PolicySide:
    """A whole policy, over what exists in its own store where it has one, else in the one in force."""
    if _is_store(side) or _is_config(side):
        store, config = (side, None) if _is_store(side) else (None, side)
        chosen = click.get_current_context().find_root().obj or {}
        with closing(prowess.open(store, config=config or chosen.get("config"))) as engine:
            return _in_force(engine)
    path = Path(side)
    if not path.is_file():
        raise PolicyError(side, "is no policy file", "compare two profiles, or two whole policies")
    once = {one.resolve(): one for one in [path, *grants]}
    rules = RuleSet.of([read_definitions(one) for one in once.values()])
    held = ground()
    return PolicySide(rules=rules, names=held.names, reviewed=held.reviewed, agents=rules.bound)


def _in_force(engine: Engine) -> PolicySide:
    moment = engine.internals.world().policy
    if moment.rules.unusable:
        raise PolicyError("policy", moment.rules.unusable, "correct it; see: prowess policy check")
    agents = {one.name: one.profile for one in engine.agents.list()}
    standing = moment.standing
    return PolicySide(rules=moment.rules, names=moment.names, reviewed=standing.reviewed, agents=agents)


def _is_store(side: str) -> bool:
    return side.startswith(STORES) or Path(side).suffix == ".db"


def _is_config(side: str) -> bool:
    return Path(side).name == configuration.FILE
