"""The command line: data on stdout, words on stderr, exit 0, 1 or 2."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import COMMANDS, prowess
from tests.support.processes import running

Run = Callable[..., Result]

MANIFEST = """
kind: tool
name: {name}
description: {description}
requiredSecrets: [{secret}]
inputSchema: {{ type: object, properties: {{ query: {{ type: string }} }} }}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, with nothing of this machine's user in reach."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return lambda *words: CliRunner().invoke(prowess, words)


def manifest(name: str, description: str = "Does something useful.", secret: str = "") -> None:
    folder = Path(".prowess/capabilities") / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CAPABILITY.yaml").write_text(
        MANIFEST.format(name=name, description=description, secret=secret)
    )


def test_a_first_run_goes_from_nothing_to_a_list(run: Run) -> None:
    assert run("init").exit_code == 0
    manifest("web-search", "Search the web.")
    synced = run("sync")
    assert synced.stdout == "+ tool:web-search\n"
    assert "1 capability: 1 added" in synced.stderr
    assert "tool:web-search" in run("list").stdout
    assert '"query"' in run("show", "tool:web-search").stdout


def test_init_twice_leaves_what_is_there(run: Run) -> None:
    run("init")
    Path("prowess.toml").write_text("# mine\n")
    again = run("init")
    assert again.exit_code == 0
    assert Path("prowess.toml").read_text() == "# mine\n"
    assert "already here" in again.stderr


def test_every_command_that_prints_data_prints_json_when_asked(run: Run) -> None:
    manifest("a", secret="NOT_SET_ANYWHERE")
    run("sync")
    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["id"], listed["available"]) == ("tool:a", False)
    shown = json.loads(run("show", "tool:a", "--json").stdout)
    assert shown["detail"]["input_schema"]["type"] == "object"
    assert json.loads(run("sources", "--json").stdout)[0]["capabilities"] == 1
    assert json.loads(run("provider", "list", "--json").stdout)[0]["name"] == "manifests"
    assert json.loads(run("sync", "--json").stdout)["total"] == 1
    assert json.loads(run("doctor", "--json").stdout)["capabilities"] == 1
    assert json.loads(run("version", "--json").stdout)["prowess"]
    assert json.loads(run("log", "--json").stdout.splitlines()[0])["type"] == "catalogue.synced"
    assert json.loads(run("log", "--verify", "--json").stdout)["intact"] is True


def test_an_unknown_capability_is_one_line_on_stderr_and_exit_1(run: Run) -> None:
    manifest("web-search")
    run("sync")
    result = run("show", "tool:web-serch")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "prowess: no capability named 'tool:web-serch'; did you mean 'tool:web-search'?\n"


def test_a_wrong_command_or_option_is_exit_2(run: Run) -> None:
    assert run("lst").exit_code == 2
    assert "Did you mean 'list'" in run("lst").stderr
    assert run("list", "--nonsense").exit_code == 2


def test_one_bad_file_is_skipped_and_doctor_says_what_to_do(run: Run) -> None:
    manifest("good")
    manifest("bad")
    Path(".prowess/capabilities/bad/CAPABILITY.yaml").write_text("name: [unclosed")
    synced = run("sync")
    assert synced.exit_code == 0 and "1 problem; see: prowess doctor" in synced.stderr
    assert "CAPABILITY.yaml" in synced.stderr, "so few are said at once"
    assert "tool:good" in run("list").stdout
    doctor = run("doctor")
    assert doctor.exit_code == 1
    assert "bad/CAPABILITY.yaml" in doctor.stdout
    assert "error" in doctor.stdout


def test_doctor_says_which_tool_a_skill_lacks_and_what_to_do(run: Run) -> None:
    Path("prowess.toml").write_text(
        '[[source]]\ntype = "manifests"\n[[source]]\ntype = "skills"\npath = "skills"\n'
    )
    manifest("search", secret="NEWS_KEY")
    for name, tool in (("news", "search"), ("pdf", "no-such-program")):
        Path("skills", name).mkdir(parents=True)
        head = f"name: {name}\ndescription: Something useful\nrequires_tools: [{tool}]"
        Path("skills", name, "SKILL.md").write_text(f"---\n{head}\n---\nDo it.\n")
    run("sync")
    said = run("doctor").stdout
    assert (
        "1 skill needs the tool no-such-program, which is not in the catalogue and not an installed program;"
        " install it, or add the source that brings it"
    ) in said
    assert (
        "1 skill needs the tool search, which is unavailable: secret NEWS_KEY is not set;"
        " once it can be used, this can be, too"
    ) in said


def test_a_provider_that_is_off_is_in_no_answer(run: Run) -> None:
    manifest("a")
    run("sync")
    run("provider", "off", "manifests")
    assert json.loads(run("list", "--json").stdout) == []
    run("provider", "on", "manifests")
    assert len(json.loads(run("list", "--json").stdout)) == 1


def test_the_log_finds_an_edited_entry(run: Run) -> None:
    manifest("a")
    run("sync")
    heads = run("log", "--export-heads").stdout
    Path("heads.json").write_text(heads)
    assert run("log", "--verify", "--heads", "heads.json").exit_code == 0
    with sqlite3.connect(".prowess/prowess.db") as connection:
        connection.execute("UPDATE journal SET data = '{}'")
    connection.close()
    broken = run("log", "--verify")
    assert broken.exit_code == 1
    assert "it was edited" in broken.stderr
    assert run("doctor").exit_code == 1


def test_import_takes_servers_over_without_their_secrets(run: Run) -> None:
    Path("claude.json").write_text(
        json.dumps(
            {"mcpServers": {"gh": {"command": "npx", "args": ["gh"], "env": {"GH_TOKEN": "ghp_s3cret"}}}}
        )
    )
    result = run("import", "claude.json")
    assert result.stdout == "gh\n"
    text = Path("prowess.toml").read_text()
    assert "ghp_s3cret" not in text + result.output
    assert "${GH_TOKEN}" in text
    assert 'type = "manifests"' in text
    assert run("import", "claude.json").stdout == ""


def test_import_of_a_file_that_is_not_there_is_a_clear_error(run: Run) -> None:
    result = run("import", "nowhere.json")
    assert result.exit_code == 1
    assert "nowhere.json: does not exist" in result.stderr


def test_text_of_others_cannot_steer_the_terminal(run: Run) -> None:
    manifest("a", '"\\e[31mred\\a"')
    run("sync")
    assert "\x1b" not in run("list").stdout
    assert "\x1b" not in run("show", "tool:a").stdout


def test_the_history_of_a_capability_shows_every_text_it_had(run: Run) -> None:
    for text in ("first text", "second text"):
        manifest("a", text)
        run("sync")
    history = run("show", "tool:a", "--history").stdout
    assert history.index("first text") < history.index("second text")


def test_every_command_has_help_and_the_overview_lists_it(run: Run) -> None:
    overview = run("--help").stdout
    for name in COMMANDS:
        assert run(name, "--help").exit_code == 0
        assert f"  {name} " in overview


def test_a_source_with_problems_is_not_ok(run: Run) -> None:
    Path("prowess.toml").write_text('[[source]]\ntype = "skills"\npath = "missing"\n')
    run("sync")
    assert "see: prowess doctor" in run("sources").stdout


@pytest.mark.slow
@pytest.mark.parametrize("words", [["sync", "--watch"], ["serve", "mcp", "--http", "127.0.0.1:0"]])
def test_what_goes_on_until_ctrl_c_ends_with_it_and_without_failure(run: Run, words: list[str]) -> None:
    command = [sys.executable, "-m", "prowess", *words]
    with running(command, stderr=subprocess.PIPE, text=True) as going:
        assert going.stderr is not None
        while "stop with Ctrl-C" not in (line := going.stderr.readline()):
            assert line
        going.send_signal(signal.SIGINT)
        assert going.wait(30) == 0
        assert "Aborted" not in going.stderr.read()


@pytest.mark.slow
def test_the_log_streams_what_happens(run: Run) -> None:
    manifest("a")
    command = [sys.executable, "-m", "prowess", "log", "--follow", "--json"]
    with running(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        run("sync")
        assert json.loads(following.stdout.readline())["data"]["added"] == ["tool:a"]
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 0


def test_without_a_policy_doctor_and_find_say_why_nothing_may_be_used(run: Run) -> None:
    manifest("web-search", "Search the web.")
    run("sync")
    told = run("doctor").stdout
    assert "prowess.toml names none" in told and '[policy] files = ["policy.yaml"]' in told
    assert "no agent is bound to a profile" in run("find", "search the web").stderr
    assert "no policy" not in run("init").stderr
    assert "only what comes with every profile" not in run("doctor").stdout
    assert "tool:web-search" in run("find", "search the web").stdout


def test_init_beside_a_configuration_without_a_policy_says_what_to_add(run: Run) -> None:
    Path("prowess.toml").write_text('store = "x.db"\n')
    assert '[policy]\nfiles = ["policy.yaml"]' in run("init").stderr


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        (
            ["--agent", "defualt"],
            "no agent named 'defualt' is bound to a profile, so it has only what comes with every profile",
        ),
        (["--kind", "tols"], "nothing is of kind 'tols'; did you mean 'tool'?"),
        (["--category", "zzz"], "nothing is of category 'zzz'; there are: general"),
        ([], "what fits cannot be used by default: tool:web-search (secret NOT_SET_ANYWHERE is not set)"),
    ],
)
def test_a_search_without_hits_says_the_cause(run: Run, options: list[str], cause: str) -> None:
    run("init")
    manifest("web-search", "Search the web.", secret="NOT_SET_ANYWHERE")
    run("sync")
    assert cause in run("find", "search the web", *options).stderr


def test_what_fits_and_is_switched_off_or_denied_is_named_to_the_person(run: Run) -> None:
    run("init")
    manifest("web-search", "Search the web.")
    run("sync")
    assert "say it in other words" in run("find", "bake a cake").stderr
    run("provider", "off", "manifests")
    assert "tool:web-search (switched off)" in run("find", "search the web").stderr
    run("provider", "on", "manifests")
    Path("policy.yaml").write_text('profiles: {none: {agents: [default], disallowed_tools: ["*"]}}\n')
    assert "tool:web-search (denied)" in run("find", "search the web").stderr
    assert "in other words" not in run("find", "bake a cake").stderr


def test_an_empty_list_says_what_is_true(run: Run) -> None:
    run("init")
    assert "prowess sync" in run("list").stderr
    manifest("a")
    run("sync")
    assert "leave one out" in run("list", "--kind", "card").stderr
    run("provider", "off", "manifests")
    assert run("list").stderr == "switched off: manifests; run: prowess provider on NAME\n"


def test_find_keeps_to_the_configuration_where_no_option_says_otherwise(run: Run) -> None:
    run("init")
    for name in ("web-search", "news-search"):
        manifest(name, f"Search {name}.")
    run("sync")
    assert len(json.loads(run("find", "search", "--json").stdout)) == 2
    with Path("prowess.toml").open("a") as file:
        file.write("[discovery]\ntier1_top_k = 1\n")
    assert len(json.loads(run("find", "search", "--json").stdout)) == 1
    assert len(json.loads(run("find", "search", "--top", "2", "--json").stdout)) == 2
    assert run("find", "search", "--top", "0").exit_code == 2


def test_what_cannot_be_written_is_one_line(run: Run) -> None:
    Path(".prowess").write_text("not a folder")
    result = run("init")
    assert result.exit_code == 1
    assert ".prowess: cannot be written" in result.stderr


def test_a_sync_says_that_something_waits_in_quarantine(run: Run) -> None:
    run("init")
    text = Path("prowess.toml").read_text()
    Path("prowess.toml").write_text(text.replace('name = "manifests"', 'name = "manifests"\ntrust = "none"'))
    manifest("a")
    assert "1 held back until a person has looked; see: prowess quarantine list" in run("sync").stderr


@pytest.mark.parametrize("words", [["list"], ["find", "x"], ["doctor"], ["log"], ["sources"], ["show", "x"]])
def test_looking_at_a_mistyped_store_makes_no_folder_for_it(run: Run, words: list[str]) -> None:
    result = run("--store", "mistyped/deep/x.db", *words)
    assert result.exit_code == 1
    assert "there is no store at" in result.stderr
    assert list(Path().iterdir()) == []


def test_a_sync_of_many_texts_says_how_many_the_guard_judged_and_what_judges_the_others(run: Run) -> None:
    tools = [{"name": f"tool-{number}", "description": f"Does the thing {number}."} for number in range(301)]
    Path("extensions.json").write_text(json.dumps({"extensions": tools}))
    Path("prowess.toml").write_text('[[source]]\ntype = "catalogue"\npath = "extensions.json"\n')
    said = run("sync").stderr
    assert (
        "judged 300 of 301 new texts of this machine; for the others run: prowess guard check --all" in said
    )
    assert "judged" not in run("sync").stderr
    assert run("guard", "check", "--all").exit_code == 0


def test_looking_around_in_an_empty_folder_leaves_nothing_there(run: Run) -> None:
    asked = "find mail; list; sources; why default mail; doctor; approval list; guard check --all"
    for words in map(str.split, asked.split(";")):
        done = run(*words)
        assert done.exit_code == 1 and "there is no project here or above; run: prowess init" in done.stderr
    assert list(Path().iterdir()) == []


def test_a_first_sync_that_reads_nothing_says_where_capabilities_come_from(run: Run) -> None:
    assert "name what there is in prowess.toml" in run("init").stderr
    assert "no source has anything: name your functions" in run("sync").stderr
    Path("extensions.json").write_text('{"extensions": [{"name": "mail", "description": "Send a mail."}]}')
    with Path("prowess.toml").open("a") as config:
        config.write('\n[[source]]\ntype = "catalogue"\npath = "extensions.json"\n')
    assert "no source has anything" not in run("sync").stderr


def test_a_project_without_cards_passes_their_check_and_a_mistyped_folder_does_not(run: Run) -> None:
    run("init")
    assert run("cards", "check").exit_code == 0
    assert run("cards", "check", "cardz").exit_code == 1


def test_the_version_is_said_as_an_option_too(run: Run) -> None:
    assert run("--version").stdout == run("version").stdout
