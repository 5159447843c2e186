"""What prowess.toml calls the tools of others: what is offered, and what is judged, on both databases."""

from typing import Any

from prowess.config import ParameterOverrideConfig, ToolOverrideConfig
from prowess.engine import Engine
from prowess.sources.overrides import Overrides
from prowess.testing import StaticSource, capability
from prowess.types import Detail
from tests.support.stores import OpenEngine

PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {"uri": {"type": "string"}, "depth": {"type": "integer"}},
    "required": ["uri"],
}
CARVED = ToolOverrideConfig(
    name="open_page",
    description="Open a page of our handbook.",
    parameters={"uri": ParameterOverrideConfig(name="address", description="Where it is.")},
)


def server(description: str = "Reads a page.", schema: dict[str, Any] = PAGE) -> StaticSource:
    names = {"get": description, "drop": "Deletes a page."}
    tools = [
        capability(f"tool:web/{name}", text, name=name, parameters=("uri", "depth"), provider="web")
        for name, text in names.items()
    ]
    details = {"tool:web/get": Detail(input_schema=schema)}
    return StaticSource("web", kind="mcp", capabilities=tools, details=details)


def worded(said: ToolOverrideConfig = CARVED, tool: str = "get", *disabled: str) -> dict[str, Overrides]:
    return {"web": Overrides({tool: said}, disabled)}


def ids(engine: Engine) -> list[str]:
    return [one.id for one in engine.catalogue.list()]


def problems(engine: Engine) -> list[str]:
    return [str(problem) for problem in engine.sync().problems]


def test_a_tool_is_offered_under_the_name_and_with_the_words_of_the_configuration(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(server(), overrides=worded())
    assert problems(engine) == []
    assert ids(engine) == ["tool:web/drop", "tool:web/open_page"]
    found = engine.catalogue.get("tool:web/open_page")
    assert (found.name, found.display_name) == ("open_page", "Open Page")
    assert (found.description, found.parameters) == ("Open a page of our handbook.", ("address", "depth"))
    assert engine.catalogue.detail(found.id).input_schema == {
        "type": "object",
        "properties": {
            "address": {"type": "string", "description": "Where it is."},
            "depth": {"type": "integer"},
        },
        "required": ["address"],
    }
    assert engine.find("a page of our handbook")[0].id == found.id


def test_a_tool_that_is_disabled_is_nowhere(open_engine: OpenEngine) -> None:
    engine = open_engine(server(), overrides={"web": Overrides(disabled=("drop",))})
    assert problems(engine) == []
    assert ids(engine) == ["tool:web/get"]


def test_an_override_of_something_that_is_not_there_names_the_nearest(open_engine: OpenEngine) -> None:
    said = ToolOverrideConfig(parameters={"url": ParameterOverrideConfig(name="address")})
    engine = open_engine(server(), overrides=worded(said, "get", "dropp"))
    told = problems(engine)
    assert any("web/dropp" in one and "no such tool; did you mean 'drop'?" in one for one in told)
    assert any("web/get.url" in one and "no such parameter; did you mean 'uri'?" in one for one in told)
    assert problems(engine) == told  # for as long as it is so
    assert ids(engine) == ["tool:web/drop", "tool:web/get"]


def test_a_name_that_another_has_or_that_means_more_is_not_given(open_engine: OpenEngine) -> None:
    taken = ToolOverrideConfig(name="drop", parameters={"uri": ParameterOverrideConfig(name="depth")})
    told = problems(open_engine(server(), overrides=worded(taken)))
    assert any("cannot be named 'drop': another tool has that name" in one for one in told)
    assert any("cannot be named 'depth': another parameter has that name" in one for one in told)
    elsewhere = {**PAGE, "dependentRequired": {"uri": ["depth"]}}
    engine = open_engine(server(schema=elsewhere), overrides=worded())
    assert any("its schema speaks of parameters in other places" in one for one in problems(engine))
    assert engine.catalogue.get("tool:web/open_page").parameters == ("uri", "depth")


def test_wording_a_tool_otherwise_asks_nobody_and_hides_no_change_of_the_server(
    open_engine: OpenEngine,
) -> None:
    open_engine(server()).sync()
    engine = open_engine(server(), overrides=worded())
    engine.sync()
    assert "tool:web/open_page" in ids(engine) and engine.quarantine.list() == ()

    changed = open_engine(server("Reads a page, and your mail."), overrides=worded())
    changed.sync()
    (held,) = changed.quarantine.list()
    assert (held.id, held.reason) == ("tool:web/open_page", "it changed since it was approved")
    assert "tool:web/open_page" not in ids(changed)
    lines = changed.quarantine.difference(held.id)
    assert "-Reads a page." in lines and "+Reads a page, and your mail." in lines

    without = open_engine(server("Reads a page, and your mail."))
    without.sync()
    assert [one.id for one in without.quarantine.list()] == ["tool:web/get"]
    changed.sync()
    changed.quarantine.approve("tool:web/open_page", by="ada")
    assert "tool:web/open_page" in ids(changed)
    without.sync()
    assert without.quarantine.list() == () and "tool:web/get" in ids(without)


def test_a_new_name_brings_nothing_past_a_person_where_a_server_may_add_tools(
    open_engine: OpenEngine,
) -> None:
    growing: dict[str, Any] = {"trust": {"web": "growing"}}
    open_engine(server(), **growing).sync()
    engine = open_engine(server("Reads your mail."), overrides=worded(), **growing)
    engine.sync()
    assert [one.id for one in engine.quarantine.list()] == ["tool:web/open_page"]


def test_what_a_person_rejected_stays_out_under_another_name(open_engine: OpenEngine) -> None:
    open_engine(server()).sync()
    plain = open_engine(server("Reads your mail."))
    plain.sync()
    plain.quarantine.reject("tool:web/get", by="ada")
    engine = open_engine(server("Reads your mail."), overrides=worded())
    engine.sync()
    assert [one.id for one in engine.quarantine.list()] == ["tool:web/open_page"]


def categories(engine: Engine) -> dict[str, str]:
    return {one.id: one.category for one in engine.catalogue.list()}


def test_what_says_no_category_has_that_of_its_source(open_engine: OpenEngine) -> None:
    own = capability("tool:web/archive", "Keeps a page.", provider="web", category="history")
    source = StaticSource("web", kind="mcp", capabilities=[*server().capabilities, own])
    engine = open_engine(source, overrides={"web": Overrides(category="browsing")})
    assert problems(engine) == []
    assert categories(engine) == {
        "tool:web/archive": "history", "tool:web/drop": "browsing", "tool:web/get": "browsing",
    }  # fmt: skip
    found = engine.find("a page", category="browsing")
    assert {hit.id for hit in found} == {"tool:web/get", "tool:web/drop"}


def test_a_category_for_a_source_asks_nobody_again_and_can_be_taken_back(open_engine: OpenEngine) -> None:
    open_engine(server()).sync()
    for category in ("browsing", "reading", ""):
        engine = open_engine(server(), overrides={"web": Overrides(category=category)})
        assert engine.sync().changes.changed == ("tool:web/drop", "tool:web/get")
        assert engine.quarantine.list() == ()
        assert set(categories(engine).values()) == {category or "general"}

    changed = open_engine(server("Reads your mail."), overrides={"web": Overrides(category="browsing")})
    changed.sync()
    assert [one.id for one in changed.quarantine.list()] == ["tool:web/get"]
