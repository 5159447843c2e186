"""What docs/policy.md says is true: its examples load and it names every key and limit."""

import re
from datetime import UTC, datetime

import pytest

from prowess.policy.builtin_grants import builtin_grants
from prowess.policy.check import findings
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.grants import ENFORCED, GrantText
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.profiles import ProfileText
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from prowess.store.database import Database
from tests.support.places import ROOT
from tests.support.policy import Clock, existing

PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- policy -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)


CLERK = next(text for text in EXAMPLES if "trainee:" in text)


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_loads_without_a_finding(text: str) -> None:
    loaded = RuleSet.of([define(parse_yaml(text, "policy.md"), "policy.md")])
    assert findings(loaded, CatalogueNames({})) == ()


def test_the_example_means_what_the_page_says() -> None:
    loaded = RuleSet.of([define(parse_yaml(CLERK, "policy.md"), "policy.md")])
    names = CatalogueNames(
        existing("event:mail:send", "event:mail:purge", "event:message:publish").capabilities
    )
    worker, trainee = (resolve(loaded, name, names) for name in ("clerk", "trainee"))
    assert "mail:send" in worker.allowed_events
    assert "mail:purge" not in worker.allowed_events
    assert worker.host_tools == ("OpenMail", "Read")
    assert "message:publish" not in trainee.allowed_events
    assert trainee.limits == {"max_children": 0}


def test_the_chain_on_the_page_is_the_chain_that_is_printed(database: Database) -> None:
    shown = re.search(r"prowess why anna event:state:get\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    definitions = define(parse_yaml(CLERK, "policy.md"), "policy.md")
    policy = Policy(database, Clock(datetime(2026, 1, 1, tzinfo=UTC)), definitions=[definitions])
    assert str(policy.explain("anna", "event:state:get", existing())) == shown[1].strip()


def test_every_key_limit_and_built_in_grant_is_on_the_page() -> None:
    words = {*GrantText.__struct_fields__, *ProfileText.__struct_fields__, *ENFORCED, *builtin_grants()} - {
        "name"
    }
    assert not [word for word in sorted(words) if f"`{word}`" not in PAGE and f"{word}:" not in PAGE]
