"""The grants that come with prowess, and the policy that a new project begins with, as policy files."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PLACE = "built in"
BASE = "base"
GRANTS = Path(__file__).with_name("builtin_grants.toml")
OWNER = Path(__file__).with_name("owner.yaml")


@cache
def builtin_grants() -> Mapping[str, Mapping[str, object]]:
    """By name, as a policy file states them."""
    found: Mapping[str, Mapping[str, object]] = tomllib.loads(GRANTS.read_text(encoding="utf-8"))["grants"]
    return found


def owner_policy() -> str:
    """The policy `prowess init` writes: profile `owner` allows everything and holds `default`."""
    return OWNER.read_text(encoding="utf-8")
