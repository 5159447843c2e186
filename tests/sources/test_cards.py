"""Cards: one normal form for what says when they matter, and limits that are kept."""

import os
from pathlib import Path

import pytest

from prowess.sources.files.cards import CardFiles
from prowess.types import Draft, SourceReading

SNAKE = """\
---
capability_id: token-economy
version: 1.2
name: Token Economy Hooks
description: Model routing and budgets
triggers:
  keywords: [cost, tokens]
  session_types: [main]
  confidence_threshold: 0.5
  time_of_day: [morning]
  user_tier: [premium]
  environment_type: [production]
  router_tags: [token-economy]
priority: 10
token_budget: 600
language: en
---
Use the cheap model first.
"""
CAMEL = (
    SNAKE.replace("capability_id", "capabilityId")
    .replace("session_types", "sessionTypes")
    .replace("confidence_threshold", "confidenceThreshold")
    .replace("time_of_day", "timeOfDay")
    .replace("user_tier", "userTier")
    .replace("environment_type", "environmentType")
    .replace("router_tags", "routerTags")
    .replace("token_budget", "tokenBudget")
)


def card(more: str = "", keywords: str = "keywords: [a]") -> str:
    return f"---\nid: small\n{more}triggers:\n  {keywords}\n---\nBody.\n"


def read(root: Path) -> SourceReading:
    return CardFiles(name="c", paths=(str(root),), now=lambda: 4e9).read({})


def drafts(reading: SourceReading) -> list[Draft]:
    return [draft for entry in reading.entries for draft in entry.drafts or ()]


def one(tmp_path: Path, text: str) -> Draft:
    (tmp_path / "card.md").write_text(text)
    reading = read(tmp_path)
    assert reading.problems == ()
    (draft,) = drafts(reading)
    return draft


def test_a_card_is_read_into_its_normal_form(tmp_path: Path) -> None:
    draft = one(tmp_path, SNAKE)
    capability = draft.capability
    assert (capability.id, capability.name) == ("card:token-economy", "token-economy")
    assert capability.display_name == "Token Economy Hooks"
    assert not capability.has_side_effects
    assert capability.metadata == {
        "triggers": {
            "keywords": ["cost", "tokens"],
            "session_types": ["main"],
            "confidence_threshold": 0.5,
            "time_of_day": ["morning"],
            "user_tier": ["premium"],
            "environment_type": ["production"],
            "router_tags": ["token-economy"],
        },
        "priority": 10,
        "token_budget": 600,
        "max_chars": 2400,
        "estimated_tokens": None,
        "version": "1.2",
        "language": "en",
        "migration": "",
        "origin": "repository",
    }
    assert draft.detail.content == "Use the cheap model first."


def test_camel_case_keys_mean_the_same(tmp_path: Path) -> None:
    assert one(tmp_path, SNAKE) == one(tmp_path, CAMEL)


def test_what_a_card_does_not_say_has_its_default(tmp_path: Path) -> None:
    metadata = one(tmp_path, card()).capability.metadata
    assert metadata["priority"] == 5 and metadata["max_chars"] == 3200
    assert metadata["triggers"]["session_types"] == ["main", "isolated"]
    assert metadata["triggers"]["confidence_threshold"] == 0.6
    assert one(tmp_path, card()).capability.display_name == "small"


def test_a_threshold_of_zero_stays_zero(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        card(keywords="{keywords: [a], confidence_threshold: 0}").replace("triggers:\n ", "triggers:"),
    )
    assert draft.capability.metadata["triggers"]["confidence_threshold"] == 0


def test_a_card_of_the_workspace_is_marked_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(card())
    (draft,) = drafts(CardFiles(name="c", paths=(str(tmp_path),), origin="workspace").read({}))
    assert draft.capability.metadata["origin"] == "workspace"


def test_the_readme_is_no_card(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# About")
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "card.md").write_text(card())
    reading = read(tmp_path)
    assert len(drafts(reading)) == 1 and reading.problems == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (card("token_budget: 2001\n"), "'token_budget' is 2001, outside 1 to 2000"),
        (card("priority: 101\n"), "'priority' is 101, outside 0 to 100"),
        (card("priority: -1\n"), "'priority' is -1, outside 0 to 100"),
        (card("priority: 1.5\n"), "'priority' must be a whole number"),
        (card("priority: true\n"), "'priority' must be a number"),
        (card("priority: high\n"), "'priority' must be a number"),
        (card(keywords="keywords: cost"), "triggers: 'keywords' must be a list"),
        (card(keywords="session_types: [main]"), "triggers: 'keywords' is missing"),
        (
            card(keywords="confidence_threshold: 2").replace("triggers:\n", "triggers:\n  keywords: []\n"),
            "outside 0 to 1",
        ),
        (card().replace("id: small\n", ""), "'id' is missing"),
        (card("capability_id: other\n"), "differ"),
        ("---\nid: x\ntriggers: [a]\n---\n", "'triggers' must be a mapping"),
        ("no frontmatter", "does not begin with frontmatter"),
        ("", "does not begin with frontmatter"),
        ("---\nid: [\n---\n", "not valid YAML"),
    ],
)
def test_a_malformed_card_is_rejected_and_the_others_go_on(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "bad.md").write_text(text)
    (tmp_path / "good.md").write_text(SNAKE)
    reading = read(tmp_path)
    assert [draft.capability.id for draft in drafts(reading)] == ["card:token-economy"]
    (problem,) = reading.problems
    assert what in problem.what and problem.remedy and problem.place.endswith("bad.md")


def test_the_limits_themselves_are_allowed(tmp_path: Path) -> None:
    assert one(tmp_path, card("token_budget: 2000\npriority: 100\n")).capability.metadata["priority"] == 100
    assert one(tmp_path, card("priority: 0\n")).capability.metadata["priority"] == 0


def test_large_linked_foreign_and_missing_cards_are_skipped_and_the_others_load(tmp_path: Path) -> None:
    root = tmp_path / "cards"
    root.mkdir()
    (tmp_path / "cards-evil").mkdir()
    (tmp_path / "cards-evil" / "evil.md").write_text(card())
    (root / "good.md").write_text(SNAKE)
    (root / "large.md").write_text(card() + "x" * (50 * 1024))
    (root / "linked.md").symlink_to("good.md")
    (root / "outside.md").symlink_to(tmp_path / "cards-evil" / "evil.md")
    (root / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(root / "pipe.md")
    reading = read(root)
    assert [draft.capability.id for draft in drafts(reading)] == ["card:token-economy"]
    assert {Path(problem.place).stem: problem.what for problem in reading.problems} == {
        "large": "is larger than 50 KiB",
        "linked": "is or lies behind a symbolic link",
        "outside": "is or lies behind a symbolic link",
        "gone": "is or lies behind a symbolic link",
        "pipe": "is not a regular file",
    }


def test_unknown_keys_are_warnings_also_among_the_triggers(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(card("prioritty: 3\n", "keywords: [a]\n  sesionTypes: [main]"))
    reading = read(tmp_path)
    assert len(drafts(reading)) == 1
    assert [(p.severity, p.remedy) for p in reading.problems] == [
        ("warning", "did you mean 'priority'?"),
        ("warning", "did you mean 'sessionTypes'?"),
    ]


def test_a_card_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(card())
    source = CardFiles(name="c", paths=(str(tmp_path),), now=lambda: 4e9)
    known = {entry.place: entry.stamp for entry in source.read({}).entries}
    assert source.read(known).entries[0].drafts is None
    (tmp_path / "a.md").unlink()
    assert source.read(known).entries == ()
