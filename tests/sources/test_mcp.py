"""The `mcp` source against real servers over real pipes, well-behaved and not."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from prowess.errors import ConfigError
from prowess.installation import install_command
from prowess.sources.mcp.source import McpSource
from prowess.sources.names import display_name
from prowess.types import Draft, SourceReading
from tests.support.places import SERVERS

pytestmark = pytest.mark.slow

LIBRARY = str(SERVERS / "library.py")
ROGUE = str(SERVERS / "rogue.py")


def rogue(way: str, *more: str, timeout: float = 20.0, max_items: int = 10_000) -> McpSource:
    return McpSource(
        name="rogue", command=sys.executable, args=(ROGUE, way, *more), timeout=timeout, max_items=max_items
    )


def drafts(reading: SourceReading) -> dict[str, Draft]:
    return {draft.capability.id: draft for entry in reading.entries for draft in entry.drafts or ()}


def warnings(reading: SourceReading) -> str:
    return "\n".join(str(problem) for problem in reading.problems)


def ended(pid: int) -> bool:
    """Whether a process that was killed is gone soon, or dead and only waiting to be reaped."""
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        try:
            if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


# --- what a good server offers -----------------------------------------------------------------


@pytest.fixture(scope="module")
def library() -> SourceReading:
    return McpSource(name="library", command=sys.executable, args=(LIBRARY,)).read({})


def test_tools_prompts_resources_and_templates_become_capabilities_of_their_server(
    library: SourceReading,
) -> None:
    assert sorted(drafts(library)) == [
        "prompt:library/recommend",
        "resource:library/book",
        "resource:library/opening-hours",
        "tool:library/find_book",
        "tool:library/lendBook",
    ]
    assert library.problems == ()
    (provider,) = library.providers
    assert (provider.name, provider.faculties, provider.down) == ("library", ("Tool",), "")


def test_a_tool_keeps_its_title_schema_annotations_and_place(library: SourceReading) -> None:
    capability, detail = (
        drafts(library)["tool:library/find_book"].capability,
        drafts(library)["tool:library/find_book"].detail,
    )
    assert (capability.name, capability.display_name) == ("find_book", "Find a book")
    assert capability.parameters == ("title", "year")
    assert capability.metadata == {"annotations": {"read_only": True, "open_world": False}}
    assert str(capability.source_ref) == "mcp:library#find_book"
    assert detail.input_schema is not None and detail.input_schema["required"] == ["title"]
    assert detail.output_schema is not None


def test_a_tool_has_side_effects_unless_it_says_that_it_only_reads(library: SourceReading) -> None:
    assert not drafts(library)["tool:library/find_book"].capability.has_side_effects
    assert drafts(library)["tool:library/lendBook"].capability.has_side_effects


def test_a_prompt_carries_its_arguments_and_a_resource_its_uri(library: SourceReading) -> None:
    prompt = drafts(library)["prompt:library/recommend"]
    assert prompt.detail.input_schema is not None and prompt.detail.input_schema["required"] == ["genre"]
    hours = drafts(library)["resource:library/opening-hours"].capability
    assert hours.metadata == {"uri": "library://opening-hours", "mime_type": "text/plain"}
    assert (
        drafts(library)["resource:library/book"].capability.metadata["uri_template"]
        == "library://books/{title}"
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("read_file", "Read File"),
        ("readFile", "Read File"),
        ("http.get-all", "Http Get All"),
        ("工具", "工具"),
    ],
)
def test_a_name_without_a_title_is_shown_as_its_words(name: str, shown: str) -> None:
    assert display_name(name) == shown


def test_reading_works_where_an_event_loop_already_runs() -> None:
    async def inside() -> SourceReading:
        return rogue("well").read({})

    assert list(drafts(asyncio.run(inside()))) == ["tool:rogue/echo"]


# --- what goes wrong ---------------------------------------------------------------------------


def test_a_command_that_does_not_exist_is_down_and_names_it() -> None:
    reading = McpSource(name="gone", command="no-such-command-at-all").read({})
    assert reading.down == "there is no command 'no-such-command-at-all'"
    assert reading.providers[0].down == reading.down
    assert "install it" in reading.problems[0].remedy


def test_a_folder_that_does_not_exist_is_down_and_names_it() -> None:
    reading = McpSource(name="lost", command=sys.executable, cwd="/no/such/folder").read({})
    assert "'/no/such/folder'" in reading.down


def test_a_command_no_system_could_start_is_down_and_says_so() -> None:
    assert "cannot be started" in McpSource(name="odd", command="a\0b").read({}).down
    assert "cannot be started" in McpSource(name="odd", command=str(SERVERS)).read({}).down


def test_a_server_that_hangs_at_start_is_down_within_its_time() -> None:
    started = time.monotonic()
    reading = rogue("hangs", timeout=0.5).read({})
    assert "did not answer within 0.5 s" in reading.down
    assert time.monotonic() - started < 15


def test_a_server_that_crashes_at_start_is_down_with_its_last_words() -> None:
    reading = rogue("crashes").read({})
    assert "stopped before it had answered (exit code 3; its last words were" in reading.down


def test_what_a_program_says_of_its_error_is_told_and_not_what_comes_behind(tmp_path: Path) -> None:
    folder = tmp_path / "_npx" / "15b07286"
    said = (
        f"Error: Cannot find package '{folder}/node_modules/zod/index.js' imported from x",
        "    at resolve (node:internal/modules/esm/resolve:860:14)",
        "Node.js v20.20.2",
    )
    server = f"import sys; sys.stderr.write({chr(10).join(said)!r}); sys.exit(1)"
    reading = McpSource(name="odd", command=sys.executable, args=("-S", "-c", server)).read({})
    assert 'its last words were "Error: Cannot find package' in reading.down
    assert reading.problems[0].remedy == f"its download was cut off: remove {folder}, then sync again"


def test_a_server_that_crashes_in_the_middle_of_a_list_is_down_and_offers_no_half_list() -> None:
    reading = rogue("crashes-mid-list").read({})
    assert "stopped" in reading.down
    assert reading.entries == ()


def test_a_server_that_answers_only_garbage_is_down_and_shows_the_first_line_of_it() -> None:
    reading = rogue("garbage-only", timeout=1).read({})
    assert "2 lines on its output are not MCP, the first is 'Welcome!'" in reading.down


def test_a_server_that_sends_one_endless_line_is_cut_off() -> None:
    started = time.monotonic()
    reading = rogue("endless-line").read({})
    assert "it sent a message without end" in reading.down
    assert time.monotonic() - started < 20


def test_lines_that_are_no_messages_are_reported_and_harm_nothing() -> None:
    reading = rogue("noisy").read({})
    assert list(drafts(reading)) == ["tool:rogue/echo"]
    assert "wrote 2 lines that are not MCP" in warnings(reading)


@pytest.mark.parametrize("way", ["one-bad-tool", "modern-bad-tool"])
def test_a_tool_with_an_invalid_schema_is_skipped_and_the_others_stay(way: str) -> None:
    reading = rogue(way).read({})
    assert sorted(drafts(reading)) == ["tool:rogue/first", "tool:rogue/last"]
    assert "rogue/broken: an entry of tools/list does not follow the protocol (inputSchema" in warnings(
        reading
    )
    assert len(reading.problems) == 4


def test_a_server_with_more_tools_than_the_limit_is_cut_with_a_warning() -> None:
    reading = rogue("many").read({})
    assert len(drafts(reading)) == 10_000
    assert "more than 10000 tools" in warnings(reading)


def test_every_page_of_a_list_is_read() -> None:
    assert len(drafts(rogue("pages").read({}))) == 15


@pytest.mark.parametrize("way", ["endless", "empty-pages", "same-cursor"])
def test_a_list_whose_pages_never_end_is_cut_with_a_warning(way: str) -> None:
    reading = rogue(way, max_items=50).read({})
    assert not reading.down
    assert len(drafts(reading)) <= 50
    assert len(reading.problems) == 1


def test_a_huge_description_is_cut_and_a_huge_schema_skipped() -> None:
    reading = rogue("huge").read({})
    assert sorted(drafts(reading)) == ["tool:rogue/ok", "tool:rogue/wordy"]
    assert len(drafts(reading)["tool:rogue/wordy"].capability.description) == 8192
    assert len(reading.problems) == 2


def test_of_two_tools_with_one_name_the_first_is_used_and_the_second_reported() -> None:
    reading = rogue("duplicates").read({})
    assert sorted(drafts(reading)) == ["tool:rogue/other", "tool:rogue/same"]
    assert drafts(reading)["tool:rogue/same"].capability.description == "first"
    assert "tool is offered twice" in warnings(reading)


def test_names_in_any_script_are_kept_and_names_nobody_could_type_are_skipped() -> None:
    reading = rogue("unicode").read({})
    assert sorted(drafts(reading)) == ["tool:rogue/werkzeug-größe", "tool:rogue/工具", "tool:rogue/🔧"]
    assert len(reading.problems) == 2


def test_a_flood_on_standard_error_blocks_nothing() -> None:
    assert list(drafts(rogue("floods-stderr").read({}))) == ["tool:rogue/echo"]


def test_a_server_that_ends_when_it_is_not_initialised_first_is_read_all_the_same() -> None:
    assert list(drafts(rogue("initialize-first").read({}))) == ["tool:rogue/echo"]


def test_a_list_that_fails_keeps_what_it_held_and_costs_no_other_list() -> None:
    reading = rogue("prompts-fail").read({"rogue/prompts": "before"})
    assert list(drafts(reading)) == ["tool:rogue/echo"]
    (prompts,) = [entry for entry in reading.entries if entry.place == "rogue/prompts"]
    assert (prompts.stamp, prompts.drafts) == ("before", None)
    assert "no prompts today" in warnings(reading)


@pytest.mark.parametrize("way", ["has-a-child", "hangs-with-a-child"])
def test_no_process_of_a_server_outlives_the_reading(tmp_path: Path, way: str) -> None:
    rogue(way, str(tmp_path / "pids"), timeout=2).read({})
    server, child = (int(pid) for pid in (tmp_path / "pids").read_text().split())
    assert ended(server) and ended(child)


def test_twenty_readings_leave_no_open_files_behind() -> None:
    rogue("well").read({})
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        rogue("well").read({})
        rogue("crashes").read({})
    assert len(os.listdir("/proc/self/fd")) <= before


# --- the environment ---------------------------------------------------------------------------


def test_a_server_sees_what_it_is_given_and_what_is_safe_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_SECRET_OF_SOMEBODY_ELSE", "secret")
    source = McpSource(
        name="rogue",
        command=sys.executable,
        args=(ROGUE, "environment"),
        env={"TOKEN": "${MY_TOKEN}", "MODE": "${MODE:-fast}"},
        environment={"MY_TOKEN": "sesame"},
    )
    names = {draft.capability.name for draft in drafts(source.read({})).values()}
    assert {"TOKEN", "MODE", "PATH"} <= names
    assert "A_SECRET_OF_SOMEBODY_ELSE" not in names and "MY_TOKEN" not in names


def test_a_variable_that_is_not_set_is_a_required_secret_and_the_server_is_still_read() -> None:
    source = McpSource(
        name="rogue",
        command=sys.executable,
        args=(ROGUE, "environment"),
        env={"TOKEN": "${MY_TOKEN}"},
        environment={},
    )
    found = drafts(source.read({}))
    assert "tool:rogue/TOKEN" not in found
    assert found["tool:rogue/PATH"].capability.required_secrets == ("MY_TOKEN",)


def test_a_variable_without_which_nothing_can_be_reached_is_named_in_the_reason() -> None:
    source = McpSource(name="remote", url="https://${REMOTE_HOST}/mcp", environment={})
    assert source.read({}).down == "environment variable REMOTE_HOST is not set"


def test_a_server_that_fails_for_want_of_a_variable_is_down_with_its_name() -> None:
    source = McpSource(
        name="rogue",
        command=sys.executable,
        args=(ROGUE, "crashes"),
        env={"TOKEN": "${MY_TOKEN}"},
        environment={},
    )
    assert source.read({}).down.endswith("environment variable MY_TOKEN is not set")


@pytest.mark.parametrize("way", ["crashes", "tools-fail"])
def test_a_value_is_never_part_of_a_reading_even_when_the_server_repeats_it(way: str) -> None:
    source = McpSource(
        name="rogue",
        command=sys.executable,
        args=(ROGUE, way),
        env={"TOKEN": "${MY_TOKEN}"},
        environment={"MY_TOKEN": "sesame-open-1234"},
    )
    reading = source.read({})
    assert "sesame" not in repr(reading)
    assert "sesame" not in repr(source)
    assert "${MY_TOKEN}" in repr(reading)


def test_without_the_sdk_the_server_is_down_and_the_remedy_is_the_exact_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in [name for name in sys.modules if name.startswith("prowess.sources.mcp.")]:
        monkeypatch.delitem(sys.modules, module)
    reading = rogue("well").read({})
    assert "optional part" in reading.down
    assert reading.problems[0].remedy == f"run: {install_command('gateway')}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "a/b", "command": "x"},
        {"name": "", "command": "x"},
        {"name": "a"},
        {"name": "a", "command": "x", "url": "y"},
    ],
)
def test_a_server_that_could_not_be_named_or_reached_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        McpSource(**wrong)  # type: ignore[arg-type]
