"""What the policy tests share: rules from a text, and a catalogue from a list of ids."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from prowess.catalogue.view import View
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.resolve import Resolved, judge, resolve
from prowess.policy.ruleset import RuleSet
from prowess.store.database import Database
from prowess.testing import capability
from prowess.types import Capability, Verdict
from tests.support import places

DATA = places.DATA / "policy"

MESSAGES = tuple(
    f"event:message:{verb}"
    for verb in ("publish", "subscribe", "unsubscribe", "subscriptions", "history", "status")
)


def rules(text: str) -> RuleSet:
    return RuleSet.of([define(parse_yaml(text, "policy.yaml"), "policy.yaml")])


def existing(*ids: str, version: int = 1, **declared: Mapping[str, object]) -> View:
    """A catalogue of these ids; `declared` gives metadata by the last word of an id."""
    found = [capability(id, metadata=dict(declared.get(id.rpartition(":")[2], {}))) for id in ids]
    return of(found, version)


def of(capabilities: Iterable[Capability], version: int = 1) -> View:
    return View(version=version, capabilities={c.id: c for c in capabilities}, providers={})


def resolved(text: str, profile: str, *ids: str) -> Resolved:
    return resolve(rules(text), profile, CatalogueNames(existing(*ids).capabilities))


def verdict(text: str, profile: str, id: str) -> Verdict:
    return judge(rules(text).holding(profile), id, None).verdict


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


def policy_of(database: Database, clock: Clock, text: str) -> Policy:
    return Policy(database, clock, definitions=[define(parse_yaml(text, "policy.yaml"), "policy.yaml")])
