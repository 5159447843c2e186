"""What `why` advises works when it is followed to the letter, whatever the policy and the catalogue."""

import json
import shlex
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.policy.agents import Agent
from prowess.policy.changes import ProfileChange
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.edits import edited
from prowess.policy.explain import explained
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import PolicyState
from tests.support.policies import IDS, LISTS, WORDS
from tests.support.policy import existing

FILE = Path("policy.yaml")
LEVELS = st.sampled_from(["read", "write", "admin"])
GRANTS = ("g", "h", "i")
PROFILES = ("p", "q", "r")


@st.composite
def policies(draw: st.DrawFn) -> dict[str, object]:
    """Grants that need others, profiles that extend others, caps, denials and what is only watched."""
    grants = {
        name: {
            "event_patterns": draw(LISTS),
            "tools": draw(st.lists(WORDS, max_size=1)),
            "requires": [one for one in GRANTS[:place] if draw(st.booleans())],
            "level": draw(LEVELS),
            "security_review_required": draw(st.booleans()),
            "mode": draw(st.sampled_from(["enforce", "enforce", "shadow"])),
        }
        for place, name in enumerate(GRANTS)
    }
    profiles = {}
    for place, name in enumerate(PROFILES):
        profile: dict[str, object] = {
            "capabilities": draw(st.dictionaries(st.sampled_from(GRANTS), st.booleans(), max_size=3)),
            "disallowed_tools": draw(LISTS),
            "additional_tools": draw(LISTS),
            "ask": draw(LISTS),
            "extends": [one for one in PROFILES[:place] if draw(st.booleans())],
            "mode": draw(st.sampled_from(["enforce", "enforce", "enforce", "shadow"])),
        }
        if draw(st.booleans()):
            profile["level"] = draw(LEVELS)
        profiles[name] = profile
    return {"grants": grants, "profiles": profiles}


def moment_of(text: str, ids: list[str]) -> PolicySnapshot:
    """The child has the last profile, its parent another."""
    rules = RuleSet.of([define(parse_yaml(text, FILE.name), FILE.name)])
    agents = {"mum": Agent(name="mum", profile="q"), "kid": Agent(name="kid", profile="r", parent="mum")}
    return PolicySnapshot(rules, PolicyState(agents), existing(*ids))


@settings(deadline=None)
@given(policies(), st.lists(IDS, min_size=1, max_size=2, unique=True), st.sampled_from(["mum", "kid"]))
def test_whatever_is_advised_works(policy: dict[str, object], ids: list[str], agent: str) -> None:
    before = yaml.safe_dump(json.loads(json.dumps(policy)), sort_keys=False)  # without aliases
    for id in ids:
        moment = moment_of(before, ids)
        stated = moment.use(agent, id, True)
        steps = explained(moment, agent, id, stated, stated).steps
        assert steps[-1].startswith(f"{stated.verdict}: {stated.reason}")
        commands = [part for step in steps for part in step.split("; then: ") if "prowess policy set" in part]
        assert not commands or stated.verdict == "deny"
        text = before
        for line in commands:
            profile, *changes = shlex.split(line[line.index("prowess policy set") :])[3:]
            text = edited(text, FILE, profile, [ProfileChange.read(one) for one in changes])
        verdict = moment_of(text, ids).use(agent, id, True).verdict
        assert verdict != "deny" or not commands, steps
