"""Skills by the Agent Skills specification."""

from pathlib import Path

import pytest

from prowess.sources.files.skills import SkillFolders
from prowess.types import Draft, SourceReading


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text)


def skill(name: str, more: str = "", body: str = "Do this.", description: str = "Helps.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n"


def read(root: Path) -> SourceReading:
    return SkillFolders(name="s", paths=(str(root),), faculties=("Reasoning",), now=lambda: 4e9).read({})


def drafts(reading: SourceReading) -> list[Draft]:
    return [draft for entry in reading.entries for draft in entry.drafts or ()]


def problem(tmp_path: Path, text: str, folder: str = "bad") -> str:
    write(tmp_path / folder, text)
    write(tmp_path / "zz-good", skill("zz-good"))
    reading = read(tmp_path)
    assert [draft.capability.id for draft in drafts(reading)] == ["skill:zz-good"]
    (found,) = reading.problems
    assert found.severity == "error" and found.remedy
    return found.what


def test_a_skill_gets_its_title_its_tools_and_its_body(tmp_path: Path) -> None:
    more = (
        "license: MIT\ncompatibility: needs git\nallowed-tools: Bash(git add:*) Read\n"
        "metadata: {requires: {bins: [gh, git]}, category: code, tags: 'git, review', author: me}\n"
    )
    write(tmp_path / "github-pr", skill("github-pr", more, "# How\n\nLike this."))
    reading = read(tmp_path)
    assert reading.problems == ()
    (draft,) = drafts(reading)
    capability = draft.capability
    assert (capability.id, capability.kind, capability.display_name) == (
        "skill:github-pr",
        "skill",
        "Github Pr",
    )
    assert capability.required_tools == ("gh", "git")
    assert (capability.category, capability.tags) == ("code", ("git", "review"))
    assert capability.metadata["allowed_tools"] == ["Bash(git add:*)", "Read"]
    assert capability.metadata["license"] == "MIT" and capability.metadata["author"] == "me"
    assert not capability.has_side_effects
    assert draft.detail.content == "# How\n\nLike this."
    assert [(p.name, p.faculties) for p in reading.providers] == [("s", ("Reasoning",))]
    assert capability.source_ref.place == str(tmp_path / "github-pr" / "SKILL.md")


def test_a_path_may_be_one_skill_itself(tmp_path: Path) -> None:
    write(tmp_path / "alone", skill("alone"))
    assert [draft.capability.id for draft in drafts(read(tmp_path / "alone"))] == ["skill:alone"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("no frontmatter", "does not begin with frontmatter"),
        ("---\nname: bad\n---\n", "'description' is missing"),
        ("---\ndescription: d\n---\n", "'name' is missing"),
        (skill("other"), "not the name of its folder"),
        (skill("Bad"), "not made of a-z"),
        (skill("-bad"), "not made of a-z"),
        (skill("b--d"), "not made of a-z"),
        (skill("x" * 65), "longer than 64"),
        (skill("bad", description="x" * 1025), "longer than 1024"),
        (skill("bad", f"compatibility: {'x' * 501}\n"), "longer than 500"),
        (skill("bad", "metadata: [a]\n"), "'metadata' must be a mapping"),
        (skill("bad", "metadata: {requires: {bins: gh}}\n"), "'bins' must be a list"),
    ],
)
def test_a_skill_that_breaks_the_specification_is_skipped_and_the_others_are_read(
    tmp_path: Path, text: str, what: str
) -> None:
    assert what in problem(tmp_path, text)


def test_the_limits_themselves_are_allowed(tmp_path: Path) -> None:
    name = "x" * 64
    write(tmp_path / name, skill(name, f"compatibility: {'x' * 500}\n", description="x" * 1024))
    reading = read(tmp_path)
    assert len(drafts(reading)) == 1 and reading.problems == ()


def test_fields_of_other_systems_are_warnings(tmp_path: Path) -> None:
    write(tmp_path / "a", skill("a", "when_to_use: always\nallowed-tool: Read\n"))
    reading = read(tmp_path)
    assert len(drafts(reading)) == 1
    assert [(p.severity, p.remedy) for p in reading.problems] == [
        ("warning", "remove it, or move it under 'metadata'"),
        ("warning", "did you mean 'allowed-tools'?"),
    ]


def test_a_long_body_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path / "a", skill("a", body="line\n" * 501))
    write(tmp_path / "b", skill("b", body="x" * 20_001))
    reading = read(tmp_path)
    assert len(drafts(reading)) == 2
    assert [p.severity for p in reading.problems] == ["warning", "warning"]


def test_skills_are_found_down_to_six_folders_and_no_deeper(tmp_path: Path) -> None:
    write(tmp_path / "1/2/3/4/5" / "six", skill("six"))
    write(tmp_path / "1/2/3/4/5/6" / "seven", skill("seven"))
    assert [draft.capability.name for draft in drafts(read(tmp_path))] == ["six"]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_bytes(
        b"\xef\xbb\xbf" + skill("a", body="x\ny").replace("\n", "\r\n").encode()
    )
    assert drafts(read(tmp_path))[0].detail.content == "x\ny"


def test_a_missing_folder_is_a_problem_and_not_a_source_that_is_down(tmp_path: Path) -> None:
    reading = read(tmp_path / "none")
    assert reading.down == "" and "does not exist" in reading.problems[0].what
