"""Importing other programs' servers: everything they need comes along, no secret does."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import ConfigError, SourceError
from prowess.sources.imports.addition import add_sources
from prowess.sources.imports.imported_server import ImportedServer
from prowess.sources.imports.importers import Imported, import_servers, read_config

SECRET = "S3cr3tValueThatMustNotLeak99"


def imported(table: dict[str, object], name: str = "notes") -> ImportedServer:
    (server,) = import_servers("mcp.json", json.dumps({"mcpServers": {name: table}})).servers
    return server


# --- the programs ------------------------------------------------------------------------------

CLAUDE_CODE = {
    "mcpServers": {"files": {"command": "npx", "args": ["-y", "server-filesystem", "/data"]}},
    "projects": {
        "/one": {"mcpServers": {"db": {"type": "stdio", "command": "db-server"}}},
        "/two": {
            "mcpServers": {
                "db": {"type": "stdio", "command": "db-server"},
                "web": {"type": "http", "url": "https://w.example/mcp"},
            }
        },
        "/three": {"mcpServers": {"db": {"command": "another-db"}}},
    },
}

VS_CODE = """{
  // The servers of this workspace.
  "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
  "servers": {
    "search": {
      "type": "stdio", "command": "search", /* found on PATH */
      "args": ["--root", "${workspaceFolder}", "http://not-a-comment.example"],
      "env": {"SEARCH_KEY": "${input:api-key}", "OTHER": "${env:OTHER_VARIABLE}",},
    },
  },
}"""

CODEX = """
model = "some-model"
[mcp_servers.docs]
command = "docs-server"
args = ["--fast"]
env = { DOCS_TOKEN = "abc" }
[mcp_servers.remote]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "REMOTE_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }
"""


def test_servers_of_the_user_and_of_every_project_are_found_once_each() -> None:
    found = import_servers("~/.claude.json", json.dumps(CLAUDE_CODE))
    assert [(s.name, s.command or s.url) for s in found.servers] == [
        ("files", "npx"),
        ("db", "db-server"),
        ("web", "https://w.example/mcp"),
        ("db-three", "another-db"),
    ]


def test_json_with_comments_trailing_commas_and_inputs_is_understood() -> None:
    (server,) = import_servers("/code/shop/.vscode/mcp.json", VS_CODE).servers
    assert server.args == ("--root", "/code/shop", "http://not-a-comment.example")
    assert server.env == {"SEARCH_KEY": "${API_KEY}", "OTHER": "${OTHER_VARIABLE}"}
    assert set(server.variables) == {"API_KEY", "OTHER_VARIABLE"}


def test_toml_with_headers_by_variable_is_understood() -> None:
    docs, remote = import_servers("config.toml", CODEX).servers
    assert docs.env == {"DOCS_TOKEN": "${DOCS_TOKEN}"}
    assert remote.headers == {"X-Team": "${TEAM}", "Authorization": "Bearer ${REMOTE_TOKEN}"}


def test_a_url_under_another_programs_key_is_understood() -> None:
    assert imported({"httpUrl": "https://g.example/mcp"}).url == "https://g.example/mcp"


def test_one_bad_server_is_skipped_with_its_reason_and_the_others_come_along() -> None:
    servers = {
        "good": {"command": "good"},
        "empty": {},
        "list": [],
        "off": {"command": "x", "disabled": True},
        "old": {"type": "sse", "url": "https://old.example/sse"},
        "self": {"command": "prowess", "args": ["serve", "mcp"]},
        "typed": {"command": "x", "env": ["A=b"]},
    }
    found = import_servers("mcp.json", json.dumps({"mcpServers": servers}))
    assert [server.name for server in found.servers] == ["good"]
    assert len(found.skipped) == 6
    assert all(error.remedy for error in found.skipped)


def test_a_name_that_could_not_stand_in_an_id_is_made_to() -> None:
    assert imported({"command": "x"}, "io.example/My Server").name == "io.example-My-Server"


# --- no secret comes along ---------------------------------------------------------------------

PLACES: list[dict[str, object]] = [
    {"command": "x", "env": {"API_KEY": SECRET}},
    {"command": "x", "env": {"SOMETHING": SECRET}},
    {"command": "x", "env": {"LOG_LEVEL": SECRET}},
    {"command": "x", "env": {"PATH": f"sk-{SECRET}"}},
    {"command": "x", "env": {"URL": f"https://u:{SECRET}@h.example"}},
    {"command": "x", "env": {"MIXED": f"${{USER}}:{SECRET}"}},
    {"command": "x", "env": {"WITH_DEFAULT": f"${{TOKEN:-{SECRET}}}"}},
    {"command": "x", "args": [f"--api-key={SECRET}"]},
    {"command": "x", "args": ["--api-key", SECRET]},
    {"command": "x", "args": ["--api-key", f"-{SECRET}"]},
    {"command": "x", "args": ["--token", "short"]},
    {"command": "docker", "args": ["run", "-e", f"GITHUB_TOKEN={SECRET}", "image"]},
    {"command": "npx", "args": ["mcp-remote", "--header", f"Authorization: Bearer {SECRET}"]},
    {"command": "npx", "args": ["mcp-remote", "-H", f"X-Anything:{SECRET}"]},
    {"command": "npx", "args": ["mcp-remote", f"--header=X-Anything: {SECRET}"]},
    {"command": "x", "args": [f"ghp_{SECRET}"]},
    {"command": "x", "args": [SECRET]},
    {"command": "x", "args": [f'{{"apiKey": "{SECRET}"}}']},
    {"command": "x", "args": ["--config", f'{{"password":"{SECRET}"}}']},
    {"command": "x", "args": [f"postgresql://me:{SECRET}@host:5432/db"]},
    {"command": "x", "args": [f"postgresql://me:a/{SECRET}@host/db"]},
    {"command": "x", "args": [f"https://h.example/mcp?key={SECRET}"]},
    {"command": f"API_KEY={SECRET} x"},
    {"url": f"https://{SECRET}@h.example/mcp"},
    {"url": f"https://h.example/mcp?api_key={SECRET}&mode=fast"},
    {"url": f"https://h.example/mcp?x={SECRET}"},
    {"url": f"https://h.example/s/{SECRET}/mcp"},
    {"url": f"https://h.example/mcp#{SECRET}"},
    {"url": "https://h.example/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
    {"url": "https://h.example/mcp", "headers": {"X-Anything": SECRET}},
    {"url": "https://h.example/mcp", "headers": {"Accept": f"text/html:{SECRET}"}},
]


@pytest.mark.parametrize("table", PLACES, ids=json.dumps)
def test_a_secret_becomes_a_reference_wherever_it_stands(table: dict[str, object]) -> None:
    server = imported(table)
    assert SECRET not in repr(server) and "short" not in server.args
    assert SECRET not in add_sources("", [server]).text
    assert server.variables or "#" in str(table.get("url"))


NAMES_OF_SECRETS = (
    "API_KEY",
    "DB_PASSWORD",
    "GITHUB_PAT",
    "auth",
    "SESSION_COOKIE",
    "MY_PIN",
    "DATABASE_DSN",
)


@given(
    st.text(min_size=1, max_size=60).filter(lambda value: value.strip("0123456789$")),
    st.sampled_from(NAMES_OF_SECRETS),
)
def test_no_env_value_under_the_name_of_a_secret_and_no_header_is_ever_kept(value: str, name: str) -> None:
    server = imported({"command": "x", "env": {name: value}})
    assert server.env[name].startswith("${") and server.env[name].endswith("}")
    server = imported({"url": "https://h.example", "headers": {"X-Setting": value}})
    assert "${" in server.headers["X-Setting"]


def test_what_is_known_to_be_harmless_is_kept() -> None:
    env = {
        "NODE_ENV": "production",
        "LOG_LEVEL": "debug",
        "PATH": "/usr/bin:/bin",
        "PORT": 8080,
        "DEBUG": True,
    }
    server = imported(
        {"command": "npx", "args": ["-y", "@scope/server-notes@1.2.3", "--port", "80"], "env": env}
    )
    assert server.env == {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in env.items()}
    assert server.args == ("-y", "@scope/server-notes@1.2.3", "--port", "80")
    assert server.variables == {}


@pytest.mark.parametrize(
    "arg",
    [
        "mcp-server-filesystem",
        "/home/me/Documents",
        "modelcontextprotocol-server",
        "ghcr.io/org/image:latest",
        "stdio",
    ],
)
def test_an_ordinary_argument_is_kept(arg: str) -> None:
    assert imported({"command": "x", "args": [arg]}).args == (arg,)


def test_a_reference_says_where_its_value_came_from() -> None:
    server = imported(
        {"url": f"https://h.example/mcp?key={SECRET}", "headers": {"Authorization": f"Bearer {SECRET}"}}
    )
    assert server.url == "https://h.example/mcp?key=${NOTES_KEY}"
    assert server.headers == {"Authorization": "Bearer ${NOTES_AUTHORIZATION}"}
    assert server.variables == {"NOTES_KEY": "url ?key=", "NOTES_AUTHORIZATION": "header Authorization"}


def test_two_servers_with_different_values_for_one_name_get_two_variables() -> None:
    servers = {
        "a": {"command": "a", "env": {"API_KEY": "one-value"}},
        "b": {"command": "b", "env": {"API_KEY": "another-value"}},
        "c": {"command": "c", "env": {"API_KEY": "one-value"}},
    }
    found = import_servers("mcp.json", json.dumps({"mcpServers": servers})).servers
    assert [server.env["API_KEY"] for server in found] == ["${API_KEY}", "${B_API_KEY}", "${API_KEY}"]


# --- into prowess.toml -------------------------------------------------------------------------

CONFIG = """# My own words.
store = "sqlite:x.db"  # kept

[[source]]
type = "skills"   # also kept
name = "notes"
path = "skills"
"""


def test_servers_are_added_as_sources_and_everything_else_stays_as_it_was_written() -> None:
    server = imported({"command": "npx", "args": ["-y", "notes"], "env": {"NOTES_KEY": SECRET}}, "mine")
    addition = add_sources(CONFIG, [server])
    assert addition.text.startswith(CONFIG)
    assert addition.added == ("mine",)
    assert tomllib.loads(addition.text)["source"][1] == {
        "type": "mcp",
        "name": "mine",
        "command": "npx",
        "args": ["-y", "notes"],
        "env": {"NOTES_KEY": "${NOTES_KEY}"},
    }


def test_a_name_that_is_taken_gets_a_number_and_a_server_that_is_there_is_not_added_again() -> None:
    server = imported({"url": "https://h.example/mcp", "headers": {"X-Key": SECRET}})
    first = add_sources(CONFIG, [server])
    assert first.added == ("notes-2",)
    text = first.text.rstrip()
    second = add_sources(text, [server])
    assert (second.text, second.added, second.known) == (text, (), ("notes",))


def test_sources_can_be_added_where_other_tables_stand_between_and_after_them() -> None:
    config = f"{CONFIG}\n[policy]\nfiles = []\n\n[[source]]\ntype = 'cards'\n[discovery]"
    addition = add_sources(config, [imported({"command": "x"}, "a"), imported({"command": "y"}, "b")])
    assert addition.text.startswith(config)
    assert [source.get("name") for source in tomllib.loads(addition.text)["source"]] == [
        "notes",
        None,
        "a",
        "b",
    ]


def test_an_empty_configuration_can_be_added_to() -> None:
    assert len(tomllib.loads(add_sources("", [imported({"command": "x"})]).text)["source"]) == 1


@pytest.mark.parametrize(
    "text", ["= broken", "source = 3", "source = [{type = 'mcp'}]", "[source]\ntype = 'mcp'"]
)
def test_a_configuration_that_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        add_sources(text, [imported({"command": "x"})])


# --- what is wrong with a file -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "is not JSON: line 1"),
        ("[]", "is not an object"),
        ("{}", "has no MCP servers"),
        ('{"mcpServers": {}}', "has no MCP servers"),
        ('{"mcpServers": []}', "is not a table of servers"),
        ('{"mcpServers": {"a": 3}}', "is not a table"),
        ("[" * 100_000, "is nested too deeply"),
        (b"\xff\xfe{}", "is not UTF-8"),
    ],
    ids=str,
)
def test_a_file_that_cannot_be_used_says_why_and_what_to_do(
    tmp_path: Path, content: str | bytes, what: str
) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SourceError, match=what) as caught:
        read_config(str(file))
    assert caught.value.remedy


def test_a_file_that_does_not_exist_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        read_config(str(tmp_path / "none.json"))


def test_toml_that_is_broken_says_where() -> None:
    with pytest.raises(SourceError, match="line 1"):
        import_servers("config.toml", "= 3")


KEYS = st.sampled_from(["command", "args", "env", "url", "headers", "cwd"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=4))
def test_whatever_a_configuration_holds_only_our_own_errors_come_out(servers: dict[str, object]) -> None:
    try:
        found = import_servers("mcp.json", json.dumps({"mcpServers": servers}))
    except SourceError:
        return
    assert isinstance(found, Imported)
    names = [server.name for server in found.servers]
    assert len(names) == len(set(names))
    assert len(tomllib.loads(add_sources("", found.servers).text)["source"]) >= 1


# --- a setup goes on working -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORY_FILE_PATH", "/home/ada/memory.json"),
        ("LOG_FILE", "C:\\Logs\\server.log"),
        ("DEFAULT_MINIMUM_TOKENS", "10000"),
        ("AWS_REGION", "eu-central-1"),
        ("OLLAMA_HOST", "http://127.0.0.1:11434"),
        ("ALLOWED_HOSTS", "example.com,api.example.com"),
        ("FEATURES", "read,write"),
        ("PUPPETEER_LAUNCH_OPTIONS", '{"headless":true}'),
        ("KEYBOARD_LAYOUT", "de"),
        ("AUTHOR", "ann"),
    ],
)
def test_an_environment_value_that_is_no_secret_is_kept(name: str, value: str) -> None:
    server = imported({"command": "x", "env": {name: value}})
    assert (server.env, server.variables) == ({name: value}, {})


def test_a_secret_is_handed_on_beside_its_reference_and_shown_nowhere() -> None:
    server = imported({"command": "x", "env": {"API_KEY": SECRET}, "args": ["--token", "short"]})
    assert server.values == {"API_KEY": SECRET, "NOTES_TOKEN": "short"}
    assert SECRET not in repr(server)


def test_a_reference_of_the_program_is_handed_on_as_it_stands_there() -> None:
    env = {"A_KEY": "${input:api-key}", "B_KEY": "Basic ${env:USER}:x", "C_KEY": "${TOKEN:-none}"}
    server = imported({"command": "x", "env": env})
    assert server.env["A_KEY"] == "${API_KEY}" and server.env["C_KEY"] == "${TOKEN}"
    assert server.originals["API_KEY"] == "${input:api-key}"
    assert server.originals["TOKEN"] == "${TOKEN:-none}"
    assert server.originals["B_KEY"] == "Basic ${env:USER}:x"
    assert server.values == {}


FOLDERS = {
    "/code/shop/.vscode/mcp.json": "servers",
    "/code/shop/.cursor/mcp.json": "mcpServers",
    "/code/shop/.mcp.json": "mcpServers",
    "/code/shop/.kiro/settings/mcp.json": "mcpServers",
}


@pytest.mark.parametrize("file", FOLDERS)
def test_a_workspace_variable_is_the_folder_of_the_file_and_the_server_starts_in_it(file: str) -> None:
    table = {"command": "files", "args": ["${workspaceFolder}/docs", "${workspaceFolderBasename}"]}
    found = import_servers(file, json.dumps({FOLDERS[file]: {"files": table}}))
    assert found.servers[0].args == ("/code/shop/docs", "shop")
    assert found.servers[0].cwd == "/code/shop"
    assert found.notes == ("files is started in /code/shop",)


def test_a_workspace_variable_of_a_persons_own_file_is_asked_for_and_nothing_is_guessed() -> None:
    servers = {"files": {"command": "files", "args": ["${workspaceFolder}"]}, "other": {"command": "y"}}
    text = json.dumps({"mcpServers": servers})
    own = str(Path.home() / ".cursor" / "mcp.json")
    (error,) = import_servers(own, text).skipped
    assert "${workspaceFolder}, which only the client can resolve" in str(error)
    assert error.remedy == "say which folder is meant: --workspace DIR"
    assert import_servers(own, text, "/code/shop").servers[0].args == ("/code/shop",)


@pytest.mark.parametrize("text", ["${command:pick}", "${config:x.y}", "{file:~/token}", "${file:/run/token}"])
def test_what_only_the_client_can_resolve_is_said_and_not_taken_over(text: str) -> None:
    servers = {"a": {"command": "a", "args": [text]}, "b": {"command": "b"}}
    found = import_servers("mcp.json", json.dumps({"mcpServers": servers}))
    assert [server.name for server in found.servers] == ["b"]
    assert text in found.skipped[0].what and found.skipped[0].remedy


def test_a_server_of_a_project_starts_there_and_one_of_many_projects_in_none() -> None:
    same, own = {"command": "db"}, {"command": "python", "args": ["./server.py"]}
    projects = {folder: {"mcpServers": {"db": same, "mine": own}} for folder in ("/one", "/two")}
    found = import_servers("/home/ada/.claude.json", json.dumps({"projects": projects}))
    assert [(server.name, server.cwd) for server in found.servers] == [
        ("db", ""),
        ("mine", "/one"),
        ("mine-two", "/two"),
    ]
    assert "db is started in no project's folder: it was in /one and in /two" in found.notes


def test_two_servers_that_differ_only_in_their_environment_are_two() -> None:
    def memory(file: str) -> ImportedServer:
        return imported({"command": "npx", "args": ["memory"], "env": {"MEMORY_FILE_PATH": file}}, "memory")

    first = add_sources("", [memory("/a.json")], label="cursor")
    second = add_sources(first.text, [memory("/b.json"), memory("/a.json")], label="codex")
    assert (second.added, second.known) == (("memory-codex",), ("memory",))
    assert [source["env"] for source in tomllib.loads(second.text)["source"]] == [
        {"MEMORY_FILE_PATH": "/a.json"},
        {"MEMORY_FILE_PATH": "/b.json"},
    ]


ZED = '{"context_servers": {"old": {"command": {"path": "x", "args": ["-a"], "env": {"PORT": "1"}}}}}'
OPENCODE = '{"mcp": {"one": {"type": "local", "command": ["x", "-a"], "environment": {"PORT": "1"}}}}'
OPENCODE_NOW = (
    '{"mcp": {"servers": {"one": {"type": "local", "command": ["x", "-a"], "environment": {"PORT": "1"}}}}}'
)


@pytest.mark.parametrize("text", [ZED, OPENCODE, OPENCODE_NOW])
def test_other_shapes_of_an_entry_are_understood(text: str) -> None:
    (server,) = import_servers("settings.json", text).servers
    assert (server.command, server.args, server.env) == ("x", ("-a",), {"PORT": "1"})
