"""The catalogue holds exactly what the sources offer now, on both databases."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.catalogue.arrival import digest
from prowess.engine import Engine
from prowess.errors import NotFound
from prowess.testing import StaticSource, capability
from prowess.types import Changes, Detail, Draft, Problem, Provider, SourceEntry, SourceReading, SourceRef
from tests.support.stores import OpenEngine


def ids(engine: Engine, agent: str | None = None) -> list[str]:
    return [c.id for c in engine.catalogue.list(agent)]


def test_a_first_sync_adds_everything_and_a_second_changes_nothing(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(capabilities=[capability("tool:b"), capability("tool:a")]))
    first, second = engine.sync(), engine.sync()
    assert first.changes == Changes(added=("tool:a", "tool:b"))
    assert not second.changes
    assert first.version == second.version == 1
    assert ids(engine) == ["tool:a", "tool:b"]


def test_a_source_that_stops_offering_a_capability_removes_it(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a"), capability("tool:b")])
    engine = open_engine(source)
    engine.sync()
    source.capabilities.pop()
    assert engine.sync().changes == Changes(removed=("tool:b",))
    assert ids(engine) == ["tool:a"]
    with pytest.raises(NotFound):
        engine.catalogue.detail("tool:b")


def test_a_changed_description_or_schema_is_a_change_and_both_texts_are_kept(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a", "one"), capability("tool:b")])
    engine = open_engine(source)
    engine.sync()
    source.capabilities[0] = capability("tool:a", "two")
    source.details["tool:b"] = Detail(input_schema={"type": "object"})
    assert engine.sync().changes == Changes(changed=("tool:a", "tool:b"))
    assert [v.capability.description for v in engine.catalogue.history("tool:a")] == ["one", "two"]
    assert engine.catalogue.detail("tool:b").input_schema == {"type": "object"}


def test_going_back_to_an_earlier_text_is_a_change_too(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a", "one")])
    engine = open_engine(source)
    for text in ("one", "two", "one"):
        source.capabilities[0] = capability("tool:a", text)
        engine.sync()
    assert engine.catalogue.get("tool:a").description == "one"


def test_a_sync_is_journalled_with_what_it_did(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(capabilities=[capability("tool:a")]))
    engine.sync()
    engine.sync()
    (entry,) = engine.journal.latest(type="catalogue.synced")
    assert entry.data == {"added": ["tool:a"], "changed": [], "removed": []}


def test_the_catalogue_survives_a_restart(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a", tags=("x",), parameters=("q",))])
    first = open_engine(source)
    first.sync()
    (again,) = open_engine(source).catalogue.list()
    assert (again.id, again.tags, again.parameters, again.source) == ("tool:a", ("x",), ("q",), "static")


def test_an_open_engine_sees_another_ones_sync_at_its_next_turn(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a")])
    watching, syncing = open_engine(source), open_engine(source)
    assert ids(watching) == []
    syncing.sync()
    assert ids(watching) == ["tool:a"]


def test_of_two_definitions_of_one_id_the_first_wins_and_the_other_is_reported(
    open_engine: OpenEngine,
) -> None:
    first = StaticSource("first", capabilities=[capability("tool:a", "from first")])
    second = StaticSource("second", capabilities=[capability("tool:a", "from second"), capability("tool:b")])
    engine = open_engine(first, second)
    (problem,) = engine.sync().problems
    assert engine.catalogue.get("tool:a").description == "from first"
    assert "tool:a is already defined by first" in problem.what
    assert problem.source == "second"


def test_a_shadowed_definition_takes_over_when_the_first_goes(open_engine: OpenEngine) -> None:
    first = StaticSource("first", capabilities=[capability("tool:a", "from first")])
    second = StaticSource("second", capabilities=[capability("tool:a", "from second")])
    engine = open_engine(first, second)
    engine.sync()
    first.capabilities.clear()
    assert engine.sync().changes == Changes(changed=("tool:a",))
    assert engine.catalogue.get("tool:a").source == "second"
    assert engine.catalogue.problems() == ()


def test_a_source_that_is_down_keeps_what_it_had_as_unavailable(open_engine: OpenEngine) -> None:
    source = StaticSource("server", capabilities=[capability("tool:a")])
    engine = open_engine(source)
    engine.sync()
    source.down = "the process exited with code 3"
    assert not engine.sync().changes
    assert engine.catalogue.get("tool:a").unavailable == (
        "provider server is down: the process exited with code 3",
    )
    source.down = ""
    engine.sync()
    assert engine.catalogue.get("tool:a").available


def test_a_source_that_raises_is_reported_and_the_others_are_read(open_engine: OpenEngine) -> None:
    class Broken(StaticSource):
        def read(self, *args: object, **more: object) -> SourceReading:
            raise ValueError("no good")

    engine = open_engine(Broken("broken"), StaticSource("fine", capabilities=[capability("tool:a")]))
    (problem,) = engine.sync().problems
    assert "ValueError: no good" in problem.what
    assert ids(engine) == ["tool:a"]


def test_a_source_that_is_no_longer_configured_loses_everything(open_engine: OpenEngine) -> None:
    one, two = (
        StaticSource(name, capabilities=[capability(f"tool:{name}")], problems=[Problem(name, "x", "y", "z")])
        for name in ("one", "two")
    )
    open_engine(one, two).sync()
    later = open_engine(one)
    assert later.sync().changes == Changes(removed=("tool:two",))
    assert [p.name for p in later.providers.list()] == ["one"]
    assert [p.source for p in later.catalogue.problems()] == ["one"]


def test_syncing_one_source_leaves_the_others_as_they_are(open_engine: OpenEngine) -> None:
    one = StaticSource("one", capabilities=[capability("tool:a")])
    two = StaticSource("two", capabilities=[capability("tool:b")])
    engine = open_engine(one, two)
    engine.sync()
    one.capabilities, two.capabilities = [], []
    assert engine.sync("one").changes == Changes(removed=("tool:a",))
    assert ids(engine) == ["tool:b"]


def test_syncing_a_source_nobody_configured_names_the_nearest(open_engine: OpenEngine) -> None:
    with pytest.raises(NotFound, match="did you mean 'static'"):
        open_engine(StaticSource()).sync("statics")


def test_an_entry_whose_stamp_is_known_is_not_read_again_and_stays(open_engine: OpenEngine) -> None:
    class Stamped(StaticSource):
        def read(self, known: object, progress: object = None) -> SourceReading:
            assert isinstance(known, dict)
            drafts = None if known.get("p") == "s1" else (Draft(capability("tool:a")),)
            return SourceReading(entries=(SourceEntry("p", "s1", drafts),))

    engine = open_engine(Stamped())
    engine.sync()
    assert not engine.sync().changes
    assert ids(engine) == ["tool:a"]


def test_moved_content_is_no_change_but_its_place_is_current(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a", source_ref=SourceRef("file", "old"))])
    engine = open_engine(source)
    engine.sync()
    source.place = "elsewhere"
    source.capabilities = [capability("tool:a", source_ref=SourceRef("file", "new"))]
    assert not engine.sync().changes
    assert str(engine.catalogue.get("tool:a").source_ref) == "file:new"


# --- providers -------------------------------------------------------------------------------


def two_providers() -> StaticSource:
    return StaticSource(
        capabilities=[capability("tool:a", provider="p"), capability("tool:b", provider="q")],
        providers=[Provider(name="p", source="", faculties=("Vision",))],
    )


def test_what_is_switched_off_is_in_no_answer_until_it_is_on_again(open_engine: OpenEngine) -> None:
    engine = open_engine(two_providers())
    engine.sync()
    engine.providers.deactivate("p")
    assert ids(engine) == ids(engine, "ada") == ["tool:b"]
    engine.providers.activate("p")
    assert ids(engine) == ["tool:a", "tool:b"]
    types = [e.type for e in engine.journal.latest(type="provider.*")]
    assert types == ["provider.off", "provider.on"]


def test_a_provider_is_switched_off_for_one_agent_only(open_engine: OpenEngine) -> None:
    engine = open_engine(two_providers())
    engine.sync()
    engine.providers.deactivate("q", agent="ada")
    assert ids(engine, "ada") == ["tool:a"]
    assert ids(engine, "bob") == ["tool:a", "tool:b"]
    assert [p.off for p in engine.providers.list("ada")] == [False, True]


def test_switching_survives_a_sync_and_a_restart(open_engine: OpenEngine) -> None:
    engine = open_engine(two_providers())
    engine.sync()
    engine.providers.deactivate("p")
    engine.sync()
    assert ids(open_engine(two_providers())) == ["tool:b"]


def test_switching_twice_is_journalled_once(open_engine: OpenEngine) -> None:
    engine = open_engine(two_providers())
    engine.sync()
    engine.providers.deactivate("p")
    engine.providers.deactivate("p")
    assert len(engine.journal.latest(type="provider.off")) == 1


def test_an_unknown_provider_is_named_with_the_nearest(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(capabilities=[capability("tool:a", provider="github")]))
    engine.sync()
    with pytest.raises(NotFound, match="did you mean 'github'"):
        engine.providers.deactivate("githib")


def test_faculties_come_with_their_provider(open_engine: OpenEngine) -> None:
    engine = open_engine(two_providers())
    engine.sync()
    assert {p.name: p.faculties for p in engine.providers.list()} == {"p": ("Vision",), "q": ()}


# --- availability ----------------------------------------------------------------------------


def test_a_secret_decides_availability_when_it_is_set_or_unset(open_engine: OpenEngine) -> None:
    environment: dict[str, str] = {"OTHER": "x"}
    engine = open_engine(
        StaticSource(capabilities=[capability("tool:a", required_secrets=("API_KEY",))]),
        environment=environment,
    )
    engine.sync()
    assert engine.catalogue.get("tool:a").unavailable == ("secret API_KEY is not set",)
    environment["API_KEY"] = "hush"
    assert engine.catalogue.get("tool:a").available
    assert "hush" not in repr(engine.catalogue.get("tool:a"))


def test_a_required_tool_may_be_a_capability_or_an_installed_program(open_engine: OpenEngine) -> None:
    engine = open_engine(
        StaticSource(
            capabilities=[
                capability("skill:a", required_tools=("cli-executor",)),
                capability("tool:cli-executor"),
                capability("skill:b", required_tools=("sh",)),
                capability("skill:c", required_tools=("no-such-program-anywhere",)),
            ]
        )
    )
    engine.sync()
    assert [c.id for c in engine.catalogue.list() if not c.available] == ["skill:c"]


def test_what_depends_on_something_unavailable_is_unavailable_with_the_reason(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(
        StaticSource(
            capabilities=[
                capability("skill:a", required_tools=("b",)),
                capability("tool:b", required_secrets=("KEY",)),
            ]
        )
    )
    engine.sync()
    assert engine.catalogue.get("skill:a").unavailable == (
        "required tool b is unavailable: secret KEY is not set",
    )


def test_an_extension_its_catalogue_does_not_mark_available_is_not(open_engine: OpenEngine) -> None:
    source = StaticSource(
        capabilities=[capability("extension:giphy", metadata={"declared_available": False})]
    )
    engine = open_engine(source)
    engine.sync()
    assert not engine.catalogue.get("extension:giphy").available


# --- digests ---------------------------------------------------------------------------------

words = st.text(max_size=20)


@given(description=words, tags=st.lists(words, max_size=3), place=words)
def test_the_digest_depends_on_content_and_on_nothing_else(
    description: str, tags: list[str], place: str
) -> None:
    one = capability("tool:a", description or "x", tags=tuple(tags))
    other_place = replace(one, source="s", source_ref=SourceRef("file", place))
    assert digest(Draft(one)) == digest(Draft(other_place))
    assert digest(Draft(one)) != digest(Draft(replace(one, description=one.description + "!")))
    assert digest(Draft(one)) != digest(Draft(one, Detail(content=description)))
