"""Manifests: a CAPABILITY.yaml becomes a capability, and a bad one loses nothing else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import SourceError
from prowess.sources.files.fields import Fields
from prowess.sources.files.manifests import Manifests, default_paths
from prowess.sources.files.normalise import Origin, declared
from prowess.text.values import Json
from prowess.types import Capability, Draft, SourceReading, SourceRef

FULL = """\
id: tool:my-custom-tool
kind: tool
name: my-custom-tool
displayName: My Custom Tool
description: Searches a proprietary API for internal documents
category: information  # a comment after a value
tags: [search, internal, documents]
requiredSecrets: [INTERNAL_API_KEY]
requiredTools:
  - curl
requiredCapabilities: [skill:writing]
hasSideEffects: false
inputSchema: { type: object, properties: { query: { type: string } } }
outputSchema: { type: array }
skillContent: ./SKILL.md
"""
MINIMAL = "name: small\nkind: tool\ndescription: Does little.\n"


def tomorrow() -> float:
    """A clock far enough ahead that no file looks freshly written."""
    return 4e9


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def manifests(
    *paths: Path, faculties: tuple[str, ...] = (), now: Callable[[], float] = tomorrow
) -> Manifests:
    return Manifests(name="m", paths=tuple(map(str, paths)), faculties=faculties, now=now)


def drafts(reading: SourceReading) -> list[Draft]:
    return [draft for entry in reading.entries for draft in entry.drafts or ()]


def one(tmp_path: Path, files: dict[str, str]) -> Draft:
    write(tmp_path / "unit", files)
    reading = manifests(tmp_path).read({})
    assert reading.problems == ()
    (draft,) = drafts(reading)
    return draft


def problem(tmp_path: Path, files: dict[str, str]) -> str:
    write(tmp_path / "bad", files)
    write(tmp_path / "good", {"CAPABILITY.yaml": MINIMAL})
    reading = manifests(tmp_path).read({})
    assert [draft.capability.id for draft in drafts(reading)] == ["tool:small"]
    (found,) = reading.problems
    assert found.severity == "error" and found.remedy and "bad" in found.place
    assert {Path(entry.place).parent.name: entry.stamp != "" for entry in reading.entries} == {
        "bad": False,
        "good": True,
    }
    return found.what


def test_a_full_manifest_gives_every_field(tmp_path: Path) -> None:
    draft = one(tmp_path, {"CAPABILITY.yaml": FULL, "SKILL.md": "---\nname: x\n---\nHow to use it.\n"})
    assert draft.capability == Capability(
        id="tool:my-custom-tool",
        kind="tool",
        name="my-custom-tool",
        display_name="My Custom Tool",
        description="Searches a proprietary API for internal documents",
        category="information",
        tags=("search", "internal", "documents"),
        parameters=("query",),
        required_secrets=("INTERNAL_API_KEY",),
        required_tools=("curl",),
        has_side_effects=False,
        provider="m",
        source="m",
        source_ref=SourceRef("manifests", str(tmp_path / "unit" / "CAPABILITY.yaml")),
        metadata={"required_capabilities": ["skill:writing"]},
    )
    assert draft.detail.input_schema == {"type": "object", "properties": {"query": {"type": "string"}}}
    assert draft.detail.output_schema == {"type": "array"}
    assert draft.detail.content == "How to use it."


def test_a_minimal_manifest_gets_its_id_category_and_display_name(tmp_path: Path) -> None:
    capability = one(tmp_path, {"CAPABILITY.yml": MINIMAL}).capability
    assert (capability.id, capability.category, capability.display_name) == ("tool:small", "general", "small")
    assert capability.has_side_effects and capability.tags == ()


def test_snake_case_and_camel_case_say_the_same(tmp_path: Path) -> None:
    snake = FULL.replace("displayName", "display_name").replace("requiredSecrets", "required_secrets")
    snake = snake.replace("hasSideEffects", "has_side_effects").replace("inputSchema", "input_schema")
    files = {"SKILL.md": "text"}
    assert one(tmp_path, {"CAPABILITY.yaml": FULL, **files}) == one(
        tmp_path, {"CAPABILITY.yaml": snake, **files}
    )


@pytest.mark.parametrize(
    ("kind", "harmful"), [("skill", False), ("card", False), ("tool", True), ("robot", True)]
)
def test_without_a_word_about_side_effects_only_text_is_harmless(
    tmp_path: Path, kind: str, harmful: bool
) -> None:
    text = f"name: a-b\nkind: {kind}\ndescription: d\n"
    assert one(tmp_path, {"CAPABILITY.yaml": text}).capability.has_side_effects is harmful


def test_a_skill_gets_a_title_and_a_channel_its_category(tmp_path: Path) -> None:
    skill = one(tmp_path, {"CAPABILITY.yaml": "name: github-pr\nkind: skill\ndescription: d\n"}).capability
    assert skill.display_name == "Github Pr"
    channel = one(tmp_path, {"CAPABILITY.yaml": "name: irc\nkind: channel\ndescription: d\n"}).capability
    assert channel.category == "communication"


def test_files_beside_the_manifest_give_schema_and_content(tmp_path: Path) -> None:
    files = {"schema.json": '{"properties": {"q": {}, "n": {}}}', "SKILL.md": "Read me."}
    draft = one(tmp_path, {"CAPABILITY.yaml": MINIMAL, **files})
    assert draft.capability.parameters == ("q", "n")
    assert draft.detail.content == "Read me."


def test_a_manifest_may_say_that_it_is_not_available(tmp_path: Path) -> None:
    capability = one(tmp_path, {"CAPABILITY.yaml": MINIMAL + "available: no\n"}).capability
    assert capability.metadata == {"declared_available": False}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("just words", "must be a mapping"),
        ("- a\n- b", "must be a mapping"),
        ("name: a\nkind: tool\n", "'description' is missing"),
        ("kind: tool\ndescription: d\n", "'name' is missing"),
        ("name: a\ndescription: d\n", "'kind' is missing"),
        ("name: a\nkind: Tool Box\ndescription: d", "not a lower-case word"),
        ("name: 7\nkind: tool\ndescription: d", "'name' must be text (put it in quotes), not a number"),
        ("name: [a]\nkind: tool\ndescription: d", "'name' must be text (put it in quotes), not a list"),
        (MINIMAL + "tags: search", "'tags' must be a list"),
        (MINIMAL + "tags: [[a]]", "an item of 'tags'"),
        (MINIMAL + "hasSideEffects: perhaps", "'hasSideEffects' must be true or false, not text"),
        (MINIMAL + "inputSchema: ./schema.json", "'inputSchema' must be a mapping"),
        (MINIMAL + "id: skill:small", "is that of a skill, and its kind is tool"),
        (MINIMAL + "id: host:small", "is that of a host"),
        (MINIMAL + "id: small", "is not a word, a colon and a name"),
        (MINIMAL + 'id: "tool:a\\nb"', "control character"),
        (MINIMAL + "id: tool:" + "x" * 200, "longer than 200"),
        ('name: "a\\e[31m"\nkind: tool\ndescription: d', "control character"),
        ("name: " + "x" * 129 + "\nkind: tool\ndescription: d", "longer than 128"),
        ("name: a\nkind: tool\ndescription: " + "x" * 9000, "longer than 8192"),
        (MINIMAL + "displayName: A\ndisplay_name: B", "are the same field"),
        (MINIMAL + "name: again", "given twice"),
        (MINIMAL + "tags: [a", "not valid YAML"),
    ],
)
def test_a_bad_manifest_is_skipped_with_its_reason_and_the_others_are_read(
    tmp_path: Path, text: str, what: str
) -> None:
    assert what in problem(tmp_path, {"CAPABILITY.yaml": text})


def test_a_bad_schema_file_is_named(tmp_path: Path) -> None:
    assert "not valid JSON" in problem(tmp_path, {"CAPABILITY.yaml": MINIMAL, "schema.json": "{"})
    assert "must be a mapping" in problem(tmp_path, {"CAPABILITY.yaml": MINIMAL, "schema.json": "[]"})


def test_a_secret_written_by_mistake_is_not_repeated_in_the_problem(tmp_path: Path) -> None:
    text = MINIMAL + "requiredSecrets: [sk-live-1234567890]\n"
    what = problem(tmp_path, {"CAPABILITY.yaml": text})
    assert "environment variable" in what and "sk-live" not in what


@pytest.mark.parametrize(
    "path", ["../good/CAPABILITY.yaml", "/etc/passwd", "a/../../x", "link", "missing.md"]
)
def test_skill_content_may_not_leave_its_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "link").symlink_to("/etc/passwd")
    what = problem(tmp_path, {"CAPABILITY.yaml": MINIMAL + f"skillContent: {path}\n"})
    assert "leaves" in what or "symbolic link" in what or "does not exist" in what


def test_non_text_pipes_loops_and_huge_files_are_skipped(tmp_path: Path) -> None:
    for name in ("binary", "pipe", "loop", "huge", "outside"):
        (tmp_path / "root" / name).mkdir(parents=True)
    root = tmp_path / "root"
    (root / "binary" / "CAPABILITY.yaml").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(root / "pipe" / "CAPABILITY.yaml")
    (root / "loop" / "CAPABILITY.yaml").symlink_to("CAPABILITY.yaml")
    (root / "huge" / "CAPABILITY.yaml").write_bytes(b"#" * (2 << 20))
    (tmp_path / "elsewhere.yaml").write_text(MINIMAL)
    (root / "outside" / "CAPABILITY.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    write(root / "good", {"CAPABILITY.yaml": MINIMAL})
    reading = manifests(root).read({})
    assert [draft.capability.id for draft in drafts(reading)] == ["tool:small"]
    assert sorted(problem.what.split(";")[0] for problem in reading.problems) == [
        "is a symbolic link that leads back to itself",
        "is larger than 1024 KiB",
        "is not a regular file",
        "line 1 is not UTF-8",
        f"the path leaves its folder {root}",
    ]


def test_an_unknown_key_is_a_warning_that_names_the_nearest_known_one(tmp_path: Path) -> None:
    text = MINIMAL + "requiredSecret: [A]\nowner: me\n"
    write(tmp_path / "unit", {"CAPABILITY.yaml": text})
    reading = manifests(tmp_path).read({})
    assert [draft.capability.id for draft in drafts(reading)] == ["tool:small"]
    assert [(p.severity, p.what, p.remedy) for p in reading.problems] == [
        ("warning", "unknown key 'requiredSecret' is ignored", "did you mean 'requiredSecrets'?"),
        ("warning", "unknown key 'owner' is ignored", "remove it, or move it under 'metadata'"),
    ]
    assert reading.entries[0].stamp == ""


def test_what_has_not_changed_is_not_read_again_and_what_has_is(tmp_path: Path) -> None:
    write(tmp_path / "a", {"CAPABILITY.yaml": MINIMAL})
    write(tmp_path / "b", {"CAPABILITY.yaml": FULL, "SKILL.md": "one"})
    source = manifests(tmp_path)
    known = {entry.place: entry.stamp for entry in source.read({}).entries}
    assert [entry.drafts for entry in source.read(known).entries] == [None, None]
    (tmp_path / "b" / "SKILL.md").write_text("another")
    again = source.read(known)
    assert [entry.drafts is None for entry in again.entries] == [True, False]
    write(tmp_path / "a", {"schema.json": "{}"})
    assert [entry.drafts is None for entry in source.read(known).entries] == [False, False]


def test_a_file_written_just_now_is_read_again_next_time(tmp_path: Path) -> None:
    file = write(tmp_path / "a", {"CAPABILITY.yaml": MINIMAL}) / "CAPABILITY.yaml"
    source = manifests(tmp_path, now=lambda: file.stat().st_mtime + 1)
    assert source.read({}).entries[0].stamp == ""
    source = manifests(tmp_path, now=lambda: file.stat().st_mtime + 3)
    assert source.read({}).entries[0].stamp != ""


def test_content_from_another_file_is_read_every_time(tmp_path: Path) -> None:
    text = MINIMAL + "skillContent: docs/how.md\n"
    write(tmp_path / "a" / "docs", {"how.md": "How."})
    write(tmp_path / "a", {"CAPABILITY.yaml": text})
    (entry,) = manifests(tmp_path).read({}).entries
    assert entry.stamp == "" and entry.drafts and entry.drafts[0].detail.content == "How."


def test_providers_and_their_faculties_are_known_also_when_nothing_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a", {"CAPABILITY.yaml": MINIMAL + "provider: acme\nfaculties: [Web, Vision]\n"})
    write(tmp_path / "b", {"CAPABILITY.yaml": FULL + "faculties: [Memory]\n", "SKILL.md": ""})
    source = manifests(tmp_path, faculties=("Tool",))
    first = source.read({})
    assert [draft.capability.provider for draft in drafts(first)] == ["acme", "m"]
    assert [(p.name, p.faculties) for p in first.providers] == [
        ("m", ("Tool", "Memory")),
        ("acme", ("Web", "Vision")),
    ]
    second = source.read({entry.place: entry.stamp for entry in first.entries})
    assert drafts(second) == [] and second.providers == first.providers


def test_folders_come_in_the_order_of_the_paths_and_each_once(tmp_path: Path) -> None:
    for name in ("z", "y"):
        write(tmp_path / name / "unit", {"CAPABILITY.yaml": MINIMAL})
    paths = (
        tmp_path / "z",
        tmp_path / "missing",
        tmp_path / "y",
        tmp_path / "z" / ".." / "z",
        tmp_path / "y",
    )
    places = [Path(entry.place).parts[-3] for entry in manifests(*paths).read({}).entries]
    assert places == ["z", "y"]


def test_two_manifests_in_one_folder_are_reported(tmp_path: Path) -> None:
    write(tmp_path / "a", {"CAPABILITY.yaml": MINIMAL, "CAPABILITY.yml": MINIMAL})
    reading = manifests(tmp_path).read({})
    assert len(drafts(reading)) == 1 and "CAPABILITY.yml beside it is ignored" in reading.problems[0].what


def test_a_path_that_is_a_file_is_a_source_that_is_down(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    reading = manifests(tmp_path / "file").read({})
    assert "is not a folder" in reading.down and reading.problems


def test_progress_is_told_for_each_unit(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name, {"CAPABILITY.yaml": MINIMAL})
    told: list[tuple[int, int]] = []
    manifests(tmp_path).read({}, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_the_default_folders_are_two_and_those_of_the_environment() -> None:
    assert default_paths("/w", {"HOME": "/h"}) == (
        "/h/.config/prowess/capabilities",
        "/w/.prowess/capabilities",
    )
    environment = {
        "XDG_CONFIG_HOME": "/x",
        "HOME": "/h",
        "PROWESS_CAPABILITY_DIRS": f"/a{os.pathsep}{os.pathsep}b",
    }
    assert default_paths("/w", environment) == (
        "/x/prowess/capabilities",
        "/w/.prowess/capabilities",
        "/a",
        "/w/b",
    )
    assert default_paths("/w", {"XDG_CONFIG_HOME": "relative"}) == ("/w/.prowess/capabilities",)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3)
)
keys = st.sampled_from(
    ["name", "kind", "id", "description", "tags", "requiredSecrets", "inputSchema", "available"]
)


@given(st.dictionaries(keys, values), st.sampled_from(["tool", "skill", "channel"]))
def test_normalisation_is_deterministic_and_gives_valid_ids(fields: dict[str, Json], kind: str) -> None:
    origin = Origin("s", "p", SourceRef("manifests", "place"))
    try:
        draft = declared(Fields("place", fields), kind, origin)
    except SourceError as error:
        assert error.remedy
        return
    again = declared(Fields("place", dict(reversed(fields.items()))), kind, origin)
    assert draft == again
    assert draft.capability.id.startswith(f"{kind}:") and draft.capability.id.isprintable()
