"""Functions and handlers of a module beside prowess.toml, from their file to a call of them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

import prowess
from prowess.engine import Engine
from prowess.types import SyncReport

POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}\n'
CONFIG = """
[policy]
files = ["policy.yaml"]
[[source]]
type = "functions"
name = "own tools"
module = "beside_tools"
[[source]]
type = "events"
name = "own events"
module = "beside_tools"
"""
TOOLS = '''
from typing import Literal, Optional
import prowess

@prowess.tool(
    display_name="Web Search", required_secrets=["SERPER_KEY"], required_tools=["no-such-program"],
    tags=["web"], category="information", side_effects=False, examples=["what happened in the world today"],
)
def search(
    query: str, search_type: Literal["search", "news", "images"] = "search",
    order: Optional[Literal["newest", "best"]] = None, max_results: int | None = 5,
) -> str:
    """Search the web.

    Args:
        query: The search query.
        search_type: Type of search.
    """
    return query

@prowess.tool(side_effects=False)
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())

@prowess.event_handler("message:publish")
def publish(channel: str, text: str):
    """Publish a message."""
    return f"{channel}: {text}"

@prowess.event_handler(
    "state:get", side_effects=False, required_secrets=["STATE_KEY"], display_name="Read state",
    examples=["what did we note"], category="state", tags=["memory"],
)
def get_state(key: Literal["plan", "notes"]):
    """Read shared state."""
    return f"the {key}"

@prowess.event_handler("queue:trim")
def trim(most: Optional[int]):
    """Trim the queue."""
    return f"to {most}"

@prowess.event_handler("audit:write")
def write(data: dict):
    """Write to the audit log."""
    return data["what"]
'''

Project = Callable[..., Engine]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that is not the current folder, and whose modules nobody else finds."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    place = tmp_path / "project"
    place.mkdir()
    (place / "prowess.toml").write_text(CONFIG)
    (place / "policy.yaml").write_text(POLICY)
    (place / "beside_tools.py").write_text(TOOLS)
    yield place
    for name in [name for name in sys.modules if name.startswith("beside_")]:
        del sys.modules[name]


def opened(folder: Path, **environment: str) -> Engine:
    return prowess.open(config=str(folder / "prowess.toml"), environment=environment)


def ids(engine: Engine) -> set[str]:
    return {capability.id for capability in engine.catalogue.list()}


def said(engine: Engine, id: str, **arguments: object) -> str:
    return engine.call(id, arguments).text


def test_a_program_elsewhere_finds_the_modules_beside_prowess_toml(folder: Path) -> None:
    with opened(folder) as engine:
        report = engine.sync()
        assert report.problems == ()
        assert {"tool:search", "event:message:publish"} <= ids(engine)


def test_handlers_get_what_their_parameters_name(folder: Path) -> None:
    with opened(folder, STATE_KEY="set") as engine:
        engine.sync()
        assert said(engine, "event:message:publish", channel="ops", text="up") == "ops: up"
        assert said(engine, "event:state:get", key="plan") == "the plan"
        assert said(engine, "event:queue:trim", most=3) == "to 3"
        assert said(engine, "event:audit:write", what="all of it", more=1) == "all of it"


def test_what_decorators_declare_decides_what_can_be_used_and_how_it_is_shown(folder: Path) -> None:
    with opened(folder) as engine:
        engine.sync()
        tool, event = engine.catalogue.get("tool:search"), engine.catalogue.get("event:state:get")
        assert tool.display_name == "Web Search" and event.display_name == "Read state"
        assert (tool.category, tool.tags) == ("information", ("web",))
        assert (event.category, event.tags) == ("state", ("memory",))
        assert not tool.has_side_effects and not event.has_side_effects
        assert len(tool.unavailable) == 2 and "SERPER_KEY" in " ".join(tool.unavailable)
        assert "STATE_KEY" in " ".join(event.unavailable)
        (missing,) = [p for p in engine.diagnose() if "SERPER_KEY" in p.what]
        assert missing.what == "1 tool needs SERPER_KEY, which is not set"


def test_a_capability_is_found_by_an_example_of_its_author(folder: Path) -> None:
    with opened(folder) as engine:
        engine.sync()
        first = engine.find("what happened in the world today", only_available=False)[0]
        assert first.id == "tool:search"


def test_pages_have_the_types_values_and_order_of_the_author(folder: Path) -> None:
    with opened(folder) as engine:
        engine.sync()
        page = engine.offer("tool:search", only_available=False).text
        start = page.index("## Input Schema")
        assert page[start : page.index("\n\n", start)].splitlines()[1:] == [
            "  query (string, required): The search query.",
            '  search_type (string): Type of search. [search|news|images] (default: "search")',
            "  order (string|null) [newest|best] (default: null)",
            "  max_results (integer|null) (default: 5)",
        ]
        assert list((engine.catalogue.detail("tool:search").input_schema or {})["properties"]) == [
            "query", "search_type", "order", "max_results",
        ]  # fmt: skip


def test_an_event_that_takes_any_object_says_so(folder: Path) -> None:
    with opened(folder) as engine:
        engine.sync()
        assert "(any object)" in engine.offer("write to the audit log: event:audit:write").text


def test_the_next_sync_sees_functions_that_were_added_changed_and_removed(folder: Path) -> None:
    file = folder / "beside_tools.py"
    with opened(folder) as engine:
        engine.sync()
        assert said(engine, "tool:count_words", text="one two") == "2"
        changed = TOOLS.replace("len(text.split())", "100 + len(text.split())")
        changed = changed[: changed.index('@prowess.event_handler("audit:write")')]
        file.write_text(
            changed + '\n@prowess.tool\ndef later() -> str:\n    """Later."""\n    return "came later"\n'
        )
        engine.sync()
        assert "event:audit:write" not in ids(engine)
        assert said(engine, "tool:later") == "came later"
        assert said(engine, "tool:count_words", text="one two") == "102"


def test_a_file_that_cannot_be_loaded_any_more_is_a_problem_until_it_can(folder: Path) -> None:
    file = folder / "beside_tools.py"
    with opened(folder) as engine:
        engine.sync()
        file.write_text("def (")
        assert {"beside_tools"} == {problem.place for problem in engine.sync().problems}
        assert "tool:count_words" in ids(engine)
        file.write_text(TOOLS + "\n")
        assert engine.sync().problems == ()
        assert said(engine, "tool:count_words", text="one two") == "2"


def test_parts_of_a_package_and_modules_that_it_takes_functions_from_are_looked_at_too(folder: Path) -> None:
    (folder / "beside_tools.py").unlink()
    package = folder / "beside_tools"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from beside_tools.mail import send\nfrom beside_more import count\n"
    )
    tool = 'import prowess\n@prowess.tool\ndef {name}() -> str:\n    """Do it."""\n    return "{says}"\n'
    (package / "mail.py").write_text(tool.format(name="send", says="sent"))
    (folder / "beside_more.py").write_text(tool.format(name="count", says="counted"))
    with opened(folder) as engine:
        engine.sync()
        assert (said(engine, "tool:send"), said(engine, "tool:count")) == ("sent", "counted")
        (package / "mail.py").write_text(tool.format(name="send", says="sent anew"))
        engine.sync()
        assert (said(engine, "tool:send"), said(engine, "tool:count")) == ("sent anew", "counted")
        (folder / "beside_more.py").write_text(tool.format(name="count", says="counted anew"))
        engine.sync()
        assert said(engine, "tool:count") == "counted anew"


@pytest.mark.slow
def test_watching_sees_a_function_that_is_added(folder: Path) -> None:
    seen, stop = Event(), Event()

    def note(report: SyncReport) -> None:
        if "tool:later" in report.changes.added:
            seen.set()

    with opened(folder) as engine:
        engine.sync()
        thread = Thread(target=engine.watch, args=(note, stop, 0.1))
        thread.start()
        try:
            for turn in range(100):  # it does not say when it looks
                text = f'\n@prowess.tool\ndef later() -> int:\n    """Later."""\n    return {turn}\n'
                (folder / "beside_tools.py").write_text(TOOLS + text)
                if seen.wait(0.3):
                    break
        finally:
            stop.set()
            thread.join(10)
    assert seen.is_set()


@pytest.mark.parametrize(
    ("id", "kind"), [("custom:deep-research", "skill"), ("acme_search:news", "tool"), ("tool:own", "tool")]
)
def test_a_manifest_may_have_an_id_of_its_own(tmp_path: Path, id: str, kind: str) -> None:
    unit = tmp_path / ".prowess/capabilities/own"
    unit.mkdir(parents=True)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    (tmp_path / "policy.yaml").write_text(
        "profiles:\n"
        f'  one: {{agents: [ada], additional_tools: ["{id.partition(":")[0]}:*"]}}\n'
        '  two: {agents: [bob], additional_tools: ["skill:*"]}\n'
    )
    (unit / "CAPABILITY.yaml").write_text(
        f"id: '{id}'\nkind: {kind}\nname: own\ndescription: Research deeply.\n"
    )
    with opened(tmp_path) as engine:
        assert engine.sync().problems == ()
        assert engine.catalogue.get(id).kind == kind
        engine.check("ada", id)
        assert [hit.id for hit in engine.find("research deeply", agent="ada")] == [id]
        assert engine.find("research deeply", agent="bob") == ()
