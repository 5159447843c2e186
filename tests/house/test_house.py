"""The house rules that a machine can hold."""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from prowess import config
from prowess.cli.main import COMMANDS
from prowess.store.database import tables
from tests.support.places import ROOT

PACKAGE = ROOT / "src" / "prowess"
INTEGRATIONS = PACKAGE / "integrations"
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name != "commands.md")]
DOCS = "".join(path.read_text() for path in PAGES)


def test_no_file_is_longer_than_400_lines() -> None:
    assert [str(path) for path in SOURCES if path.read_text().count("\n") > 400] == []


def test_no_function_is_longer_than_40_lines() -> None:
    long = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > 40:
                    long.append(f"{path.name}:{node.lineno} {node.name} ({length})")
    assert long == []


def test_each_table_is_written_by_one_module_only() -> None:
    writers: dict[str, set[str]] = {table: set() for table in tables()}
    for path in SOURCES:
        for verb in re.findall(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)", path.read_text()):
            if verb in writers:
                writers[verb].add(str(path))
    assert {table: names for table, names in writers.items() if len(names) != 1} == {}


def test_every_command_is_documented() -> None:
    assert [name for name in COMMANDS if f"prowess {name}" not in DOCS] == []


def test_every_key_of_the_configuration_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    sections = [getattr(config, name) for name in dir(config) if name.endswith("Config")]
    keys = {key for section in sections for key in section.__struct_fields__}
    assert sorted(key for key in keys if f"`{key}`" not in text and f"[{key}]" not in text) == []


def test_every_error_is_in_the_tree_at_the_top_of_its_module() -> None:
    text = (ROOT / "src" / "prowess" / "errors.py").read_text()
    tree = text.partition('"""')[2].partition('"""')[0]
    names = re.findall(r"^class (\w+)\(", text, re.MULTILINE)
    assert [name for name in names if name not in tree and name != "ProwessError"] == []


def test_the_version_in_the_changelog_is_the_version_of_the_package() -> None:
    from importlib.metadata import version

    assert f"## {version('prowess')}" in (ROOT / "CHANGELOG.md").read_text()


def test_one_name_is_one_class() -> None:
    classes = Counter(
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_a_limit_is_called_by_what_it_limits() -> None:
    vague = re.compile(r"^(LONGEST|LARGEST|SHORTEST|MOST|FEW|MANY)\b", re.M)
    assert [path.name for path in SOURCES if vague.search(path.read_text())] == []


def test_every_file_of_the_map_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("| symptom | file |")[2]
    named = re.findall(r"`([a-z_]+/[a-z_./]*)`", text)
    assert len(named) > 20
    assert [place for place in named if not (ROOT / "src" / "prowess" / place).exists()] == []


# --- what is imported, and what is used of it -----------------------------------------------------------

EXTRAS = {
    "gateway": (
        "gateway/",
        "oidc/provider.py",
        "calling/mcp/",
        "calling/openapi.py",
        "sources/mcp/",
        "cli/login.py",
        "monitoring/stopping.py",
        "cli/serve.py",
    ),
    "oidc": ("oidc/", "web/provider.py"),
    "otel": ("otel/",),
    "secrets": ("secrets/os_keyring.py", "secrets/env_file.py"),
    "web": ("web/", "tenants/", "cli/serve.py"),
    "postgres": ("store/postgres.py", "store/limited_connection.py", "store/servers.py", "store/replica.py"),
    "tokens": ("token_counts.py",),
}
"""Extra -> the files that work only with it."""
BROUGHT_BY_USERS = {"sentence_transformers"}
"""Imported only where a user names a model of that library."""
NOT_PRIVATE = {"_replace", "_asdict", "_fields", "_exit"}
"""Documented members whose names begin with an underscore: those of named tuples, and os._exit."""
EXPORTED_NOWHERE_ELSE = {"mcp.client._transport"}
"""The types of a transport, which mcp names only there; imported for the type checker alone."""


def test_every_import_is_declared_as_a_dependency() -> None:
    undeclared = {
        f"{path.relative_to(PACKAGE)}: {module}"
        for path in SOURCES
        for module in _imported(path)
        if module not in sys.stdlib_module_names and module not in {"prowess", *BROUGHT_BY_USERS}
        if not _distributions(module) & _declared_for(str(path.relative_to(PACKAGE)))
        and not _is_elsewhere(path, module)
    }
    assert undeclared == set()


def test_no_private_member_of_another_module_is_used() -> None:
    assert [use for path in SOURCES for use in _private_uses(path)] == []


def _is_elsewhere(path: Path, module: str) -> bool:
    """Whether it is the framework of an integration, which is installed in an environment of its own."""
    return path.parent == INTEGRATIONS and not _distributions(module) and bool(_extra_of(path.stem))


def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {module.partition(".")[0] for module in plain | named}


@cache
def _modules() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def _distributions(module: str) -> set[str]:
    return {_normal(name) for name in _modules().get(module, ())}


@cache
def _project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def _declared_for(file: str) -> set[str]:
    stated = [*_project()["dependencies"]]
    for extra, places in EXTRAS.items():
        if file.startswith(places):
            stated += _project()["optional-dependencies"][extra]
    if file.startswith("integrations/"):
        stated += _extra_of(Path(file).stem)
    return {_normal(re.split(r"[\[<>=! ]", one)[0]) for one in stated}


def _extra_of(integration: str) -> list[str]:
    """What the extra of an integration brings; it is called like the framework."""
    found: list[str] = _project()["optional-dependencies"].get(_normal(integration), [])
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _private_uses(path: Path) -> Iterator[str]:
    """Where a name with an underscore is taken from another module, or from a value of one."""
    tree = ast.parse(path.read_text())
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_own(node)}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | NOT_PRIVATE
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in own:
            yield f"{path.relative_to(PACKAGE)}:{node.lineno} .{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module not in EXPORTED_NOWHERE_ELSE:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from (
                f"{path.relative_to(PACKAGE)}:{node.lineno} {name}" for name in names if _is_private(name)
            )


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_only_what_is_searched_loaded_or_shown_is_read_from_a_replica() -> None:
    asking = {path for path in SOURCES if ".from_replica" in path.read_text() and path.name != "database.py"}
    assert {str(path.relative_to(PACKAGE)) for path in asking} == {
        "catalogue/stored.py",
        "discovery/index.py",
        "discovery/stored/index.py",
        "discovery/stored/reach.py",
        "discovery/stored/search.py",
        "discovery/vectors.py",
        "journal/journal.py",
        "world.py",
    }
    looking_back = {path for path in SOURCES if re.search(r"(inner|internals)\.history\b", path.read_text())}
    assert not any(part in PARTS_THAT_DECIDE for path in looking_back for part in path.parts)


PARTS_THAT_DECIDE = {"policy", "evolution", "learning", "calling", "alerts", "catalogue"}
