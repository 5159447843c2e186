"""Rules as a file states them: a pattern, or a mapping that says more than a name can.

    "tool:web-*"
    {provider: github, except: [{effects: destructive}]}
    {match: "tool:bank/pay", when: "amount <= 100", mode: shadow}

Above: grants and profiles, whose lists hold rules. Below: patterns, attributes and conditions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import msgspec
import yaml

from prowess.errors import PolicyError
from prowess.policy.attributes import attribute_names, read_attributes
from prowess.policy.conditions import Condition
from prowess.policy.documents import convert
from prowess.policy.patterns import Pattern, tool_patterns

Stated: TypeAlias = str | dict[str, object]
Mode: TypeAlias = Literal["enforce", "shadow"]
Reader: TypeAlias = Callable[[str, str], tuple[Pattern, ...]]
"""Reads a pattern: of its text and its place."""

EVERYTHING = Pattern("*", "everything", "*")


class RuleText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule that is a mapping."""

    match: str = ""
    kind: str | list[str] = ""
    provider: str | list[str] = ""
    category: str | list[str] = ""
    tag: str | list[str] = ""
    effects: str | list[str] = ""
    trust: str | list[str] = ""
    except_: str | dict[str, object] | list[Stated] = msgspec.field(default="", name="except")
    when: str = ""
    mode: Mode = "enforce"


def read_rules(stated: Sequence[Stated], read: Reader, place: str) -> tuple[Pattern, ...]:
    """The patterns of a list of rules. Raises `PolicyError` for what is none."""
    return tuple(pattern for one in stated for pattern in read_rule(one, read, place))


def read_rule(stated: Stated, read: Reader, place: str) -> tuple[Pattern, ...]:
    """The patterns of one rule: a bare word makes two."""
    if isinstance(stated, str):
        return read(stated, place)
    text = convert(stated, RuleText, place)
    where = read_attributes({name: getattr(text, name) for name in attribute_names()}, place)
    if not text.match and where is None:
        raise PolicyError(place, f"the rule {rule_text(stated)} speaks of nothing", "say what: match: '*'")
    excepted = text.except_ if isinstance(text.except_, list) else [text.except_] if text.except_ else []
    for one in excepted:
        if isinstance(one, Mapping) and {"when", "mode"} & one.keys():
            raise PolicyError(place, "an exception has no 'when' or 'mode'", "put it into a rule of its own")
    return tuple(
        replace(
            pattern,
            text=rule_text(stated),
            where=where,
            excepted=read_rules(excepted, tool_patterns, place),
            when=Condition.read(text.when, place) if text.when else None,
            shadow=text.mode == "shadow",
        )
        for pattern in (read(text.match, place) if text.match else (EVERYTHING,))
    )


def rule_text(stated: Stated) -> str:
    """One text for one rule, as a file could state it in one line."""
    if isinstance(stated, str):
        return stated
    flow = yaml.safe_dump(dict(stated), default_flow_style=True, sort_keys=False, width=10_000)
    return flow.strip()
