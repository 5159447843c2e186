"""`prowess lint` of a catalogue that is looked up: it finds what it finds in one that is held, by pages."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from prowess.discovery.dense import Matrix
from prowess.discovery.lint import LintFinding
from prowess.discovery.stored import lint as stored_lint
from prowess.testing import StaticSource, capability, word_embedder
from tests.support.large import HELD, opened

SEARCH = {"name": "search", "display_name": "search"}
TWINS = [
    capability(f"tool:{server}/search", "Search the web for pages about a topic", provider=server, **SEARCH)
    for server in ("a", "b")
]


def catalogue() -> StaticSource:
    said = "Wait until somebody says that it may go on with number "
    things = [
        *TWINS,
        capability("tool:c/look", "Look in the garden for fruit that is ripe"),
        capability("tool:short", "Does it."),
        capability("tool:long", "very " * 300 + "long"),
        *(capability(f"tool:n{n}", f"{said}{n} and {n * n} and then {n * n * n}") for n in range(12)),
    ]
    return StaticSource("tools", capabilities=things)


def told(findings: Sequence[LintFinding]) -> list[tuple[tuple[str, ...], str, str]]:
    return [(one.ids, one.what, one.remedy) for one in findings]


def test_it_finds_what_is_found_in_memory(store_url: str, tmp_path: Path) -> None:
    presets = {"vain": ["tool:short", "nobody"]}
    with (
        opened("held.db", tmp_path / "held", catalogue(), HELD, presets=presets) as held,
        opened(store_url, tmp_path / "stored", catalogue(), presets=presets) as stored,
    ):
        found = told(held.catalogue.lint())
        assert ("tool:a/search", "tool:b/search") in [ids for ids, _, _ in found]
        assert told(stored.catalogue.lint()) == found


def test_a_catalogue_too_large_to_compare_all_with_all_says_so_and_compares_what_has_one_name(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(store_url, tmp_path, catalogue()) as engine:
        compared = [ids for ids, _, _ in told(engine.catalogue.lint())]
        monkeypatch.setattr(stored_lint, "MOST_COMPARED", 5)
        first, twins, *others = engine.catalogue.lint()
        assert first.ids == () and "17" in first.what and "in_memory = 17" in first.remedy
        assert twins.ids == ("tool:a/search", "tool:b/search") and set(twins.proposals) == set(twins.ids)
        assert {one.ids for one in others} <= set(compared)
        assert {("tool:short",), ("tool:long",)} <= {one.ids for one in others}


def test_what_no_vector_could_be_made_for_is_compared_by_its_words(store_url: str, tmp_path: Path) -> None:
    source = catalogue()
    _, embed = word_embedder()
    fails: list[bool] = []

    def sometimes(texts: Sequence[str]) -> Matrix:
        if fails:
            raise OSError("the service is away")
        return embed(texts)

    with opened(store_url, tmp_path, source, embedder=lambda: ("words", sometimes)) as engine:
        fails.append(True)
        source.capabilities.append(replace(TWINS[0], id="tool:d/seek", name="seek", provider="d"))
        engine.sync()
        found = engine.catalogue.lint()
        assert found[0].what.startswith("1 of 18 have no vector")
        assert ("tool:a/search", "tool:d/seek") in [one.ids for one in found if "same words" in one.what]
