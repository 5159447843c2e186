"""The house rules that a machine can hold."""

import ast
import re
from collections import Counter

import pytest

import prowess
from prowess import config
from prowess.cli.main import COMMANDS
from prowess.store.database import migrations
from tests.support.places import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.py"))
DOCS = "".join(path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])


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
    tables = {name for m in migrations() for name in re.findall(r"CREATE TABLE (\w+)", m.text)}
    writers: dict[str, set[str]] = {table: set() for table in tables}
    for path in SOURCES:
        for verb in re.findall(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)", path.read_text()):
            if verb in writers:
                writers[verb].add(path.stem)
    assert {table: names for table, names in writers.items() if len(names) != 1} == {}


def test_the_public_names_are_these_and_each_can_be_used() -> None:
    assert set(dir(prowess)) == set(prowess.__all__)
    assert all(getattr(prowess, name) for name in prowess.__all__)
    with pytest.raises(AttributeError):
        prowess.nonsense  # noqa: B018


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
