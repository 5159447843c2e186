"""Skills by the Agent Skills specification."""

from pathlib import Path

import pytest

from prowess.config import Settings, parse
from prowess.sources.configured import configured_sources
from prowess.sources.files.skills import SkillFolders
from prowess.types import Draft, SourceReading
from prowess.world import SourceSet


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


def test_examples_stand_at_the_top_or_under_metadata(tmp_path: Path) -> None:
    above = "examples:\n  - Turn this page into a PDF.\n  - 'Print it: on paper'\n"
    write(tmp_path / "above", skill("above", above))
    write(tmp_path / "below", skill("below", f"metadata:\n  {above}".replace("\n  -", "\n    -")))
    write(tmp_path / "one", skill("one", "examples: make a PDF of it\n"))
    reading = read(tmp_path)
    assert reading.problems == ()
    found = {draft.capability.name: draft.capability.metadata["examples"] for draft in drafts(reading)}
    said = ["Turn this page into a PDF.", "Print it: on paper"]
    assert found == {"above": said, "below": said, "one": ["make a PDF of it"]}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("no frontmatter", "does not begin with frontmatter"),
        ("---\nname: bad\n---\n", "'description' is missing"),
        ("---\nname: bad\ndescription: ''\n---\n", "'description' is missing"),
        ("---\nname: bad\ndescription: [a]\n---\n", "'description' must be text"),
        ("---\nname: bad\ndescription: Posts to: X, Y\n---\n", "not valid YAML"),
        ("---\nname: bad\ndescription: d\nname: worse\n---\n", "name"),
    ],
)
def test_a_skill_that_cannot_be_understood_is_skipped_with_the_reason_and_the_others_are_read(
    tmp_path: Path, text: str, what: str
) -> None:
    assert what in problem(tmp_path, text)


LONG = "Helps with many things. " * 60

SHAPES = [
    (skill("other"), "skill:other", "the name 'other' is not the name of its folder, 'odd'"),
    (skill("Context Doctor"), "skill:context-doctor", "the name 'Context Doctor' is no skill's name"),
    (skill("Verification & Quality"), "skill:verification-quality", "so it goes by 'verification-quality'"),
    (skill("-odd--one_"), "skill:odd-one", "is no skill's name"),
    (skill("x" * 70), f"skill:{'x' * 64}", "is no skill's name"),
    (skill("'2048'"), "skill:2048", "is not the name of its folder"),
    (skill("2048"), "skill:2048", "is not the name of its folder"),
    ("---\ndescription: d\n---\nDo.\n", "skill:odd", "it has no name, so it goes by its folder, 'odd'"),
    (skill("工具"), "skill:odd", "so it goes by 'odd'"),
    (skill("odd", description=LONG), "skill:odd", "its description has 1439 characters and is cut to 1024"),
    (skill("odd", "when_to_use: always\nlevel: 3\n"), "skill:odd", "unknown keys 'when_to_use', 'level'"),
    (skill("odd", "allowed-tool: Read\n"), "skill:odd", "'allowed-tool' (did you mean 'allowed-tools'?)"),
    (skill("odd", "disable-model-invocation: true\n"), "skill:odd", "unknown key 'disable-model-invocation'"),
    (skill("odd", "metadata: [a]\n"), "skill:odd", "'metadata' is no mapping"),
    (skill("odd", "tags: {a: b}\n"), "skill:odd", "tags is no list"),
    (skill("odd", "tags: [a, [b]]\n"), "skill:odd", "an item of tags is no short text"),
    (skill("odd", "examples: {a: b}\n"), "skill:odd", "examples is no list"),
    (skill("odd", "examples: [a, 1, {}]\n"), "skill:odd", "an item of examples is no text"),
    (skill("odd", "requires_secrets: ['sk live 123']\n"), "skill:odd", "a required secret is not the name"),
]


@pytest.mark.parametrize(("text", "id", "doubt"), SHAPES)
def test_what_breaks_the_specification_and_can_be_understood_is_read_with_one_warning(
    tmp_path: Path, text: str, id: str, doubt: str
) -> None:
    write(tmp_path / "odd", text)
    reading = read(tmp_path)
    (draft,), (found,) = drafts(reading), reading.problems
    assert draft.capability.id == id and draft.detail.content is not None
    assert len(draft.capability.description) <= 1024
    assert (found.severity, doubt in found.what) == ("warning", True), found.what
    assert "sk live" not in found.what


def test_sixty_five_skills_of_every_shape_all_load_or_say_why_not(tmp_path: Path) -> None:
    for at in range(65):
        text = SHAPES[at % len(SHAPES)][0] if at % 13 else "---\nname: none\n---\n"
        write(tmp_path / f"{at:02}" / "odd", text.replace("name: ", f"name: n{at} ", 1))
    reading = read(tmp_path)
    refused = [problem for problem in reading.problems if problem.severity == "error"]
    assert (len(drafts(reading)), len(refused)) == (60, 5)
    assert all(problem.remedy for problem in reading.problems)
    assert len({problem.place for problem in reading.problems}) == len(reading.problems)


NESTED = """metadata:
  agentos: {emoji: x, requires: {bins: [gh], env: [GH_TOKEN]}, category: developer}
"""
TOP = """category: developer
namespace: theirs
tags: [github, review]
requires_secrets: [github.token, openai.apiKey, GH_TOKEN]
requires_tools: [github_search, github_pr_list]
"""


@pytest.mark.parametrize(
    ("more", "tools", "secrets", "category", "tags"),
    [
        (TOP, ("github_search", "github_pr_list"), ("GITHUB_TOKEN", "OPENAI_API_KEY", "GH_TOKEN"),
         "developer", ("github", "review")),
        ("requiredTools: gh, git\nrequiredSecrets: [A_KEY]\n", ("gh", "git"), ("A_KEY",), "general", ()),
        ("tools_required: [editImage]\nkeywords: 'a, b'\n", ("editImage",), (), "general", ("a", "b")),
        (NESTED, ("gh",), ("GH_TOKEN",), "developer", ()),
        ('metadata: {"bot": {"requires": {"bins": ["curl"]}}}\n', ("curl",), (), "general", ()),
        ("metadata: {requires: {bins: gh}}\n", ("gh",), (), "general", ()),
        ("requires: {tools: [a], bins: [b], secrets: [C]}\n", ("a", "b"), ("C",), "general", ()),
    ],
)  # fmt: skip
def test_requirements_are_read_at_the_top_in_metadata_and_below_a_name_of_another_system(
    tmp_path: Path, more: str, tools: tuple[str, ...], secrets: tuple[str, ...], category: str,
    tags: tuple[str, ...],
) -> None:  # fmt: skip
    write(tmp_path / "odd", skill("odd", more))
    reading = read(tmp_path)
    found = drafts(reading)[0].capability
    assert reading.problems == ()
    assert (found.required_tools, found.required_secrets) == (tools, secrets)
    assert (found.category, found.tags) == (category, tags)


def test_a_page_in_small_letters_is_a_skill_too(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "skill.md").write_text(skill("odd"))
    assert [draft.capability.id for draft in drafts(read(tmp_path))] == ["skill:odd"]


def test_the_limits_themselves_are_allowed(tmp_path: Path) -> None:
    name = "x" * 64
    write(tmp_path / name, skill(name, f"compatibility: {'x' * 500}\n", description="x" * 1024))
    reading = read(tmp_path)
    assert len(drafts(reading)) == 1 and reading.problems == ()


# --- what lies beside a page ---------------------------------------------------------------------


def beside(tmp_path: Path) -> list[str]:
    metadata = drafts(read(tmp_path))[0].capability.metadata
    return [str(one["path"]) for one in metadata.get("files", ())]


def test_references_scripts_and_assets_belong_to_a_skill_and_nothing_else_does(tmp_path: Path) -> None:
    write(tmp_path / "pdf", skill("pdf"))
    for path in ("references/FORMS.md", "scripts/fill/in.py", "assets/logo.png", "GUIDE.md", "notes.txt"):
        (tmp_path / "pdf" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pdf" / path).write_text(path)
    for path in (".env", "prowess.toml", "src/main.py", "references/.hidden", "references/.git/config"):
        (tmp_path / "pdf" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pdf" / path).write_text("not for others")
    assert beside(tmp_path) == [
        "GUIDE.md", "assets/logo.png", "notes.txt", "references/FORMS.md", "scripts/fill/in.py",
    ]  # fmt: skip


def test_links_are_not_followed_and_large_or_too_many_files_are_said(tmp_path: Path) -> None:
    write(tmp_path / "pdf", skill("pdf"))
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "pdf" / "references"
    folder.mkdir()
    (folder / "linked.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "pdf" / "scripts").symlink_to(tmp_path)
    (folder / "large.md").write_bytes(b"x" * (2**20 + 1))
    assert beside(tmp_path) == []
    assert "references/large.md is larger than 1024 KiB" in read(tmp_path).problems[-1].what
    for at in range(205):
        (folder / f"a{at:03}.md").write_text("x")
    assert len(beside(tmp_path)) == 200
    assert "more than 200 files" in read(tmp_path).problems[-1].what


def test_a_changed_file_is_a_changed_skill_and_an_unchanged_one_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path / "pdf", skill("pdf"))
    (tmp_path / "pdf" / "references").mkdir()
    file = tmp_path / "pdf" / "references" / "FORMS.md"
    file.write_text("one")
    first = read(tmp_path)
    known = {entry.place: entry.stamp for entry in first.entries}
    again = SkillFolders(name="s", paths=(str(tmp_path),), now=lambda: 4e9).read(known)
    assert [entry.drafts for entry in again.entries] == [None]
    file.write_text("another")
    changed = SkillFolders(name="s", paths=(str(tmp_path),), now=lambda: 4e9).read(known)
    assert drafts(changed)[0].capability.metadata != drafts(first)[0].capability.metadata


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


def test_skills_within_a_skill_are_skills_and_what_lies_in_its_own_folders_is_none(tmp_path: Path) -> None:
    write(tmp_path / "router", skill("router"))
    write(tmp_path / "router" / "auth", skill("auth"))
    write(tmp_path / "router" / "assets" / "template", skill("template"))
    assert [draft.capability.name for draft in drafts(read(tmp_path))] == ["router", "auth"]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_bytes(
        b"\xef\xbb\xbf" + skill("a", body="x\ny").replace("\n", "\r\n").encode()
    )
    assert drafts(read(tmp_path))[0].detail.content == "x\ny"


def test_a_missing_folder_is_a_problem_and_not_a_source_that_is_down(tmp_path: Path) -> None:
    reading = read(tmp_path / "none")
    assert reading.down == "" and "does not exist" in reading.problems[0].what


# --- the usual places ----------------------------------------------------------------------------


def configured(root: Path, home: Path, text: str) -> SkillFolders:
    settings = Settings(parse(f'[[source]]\ntype = "skills"\n{text}'), root)
    (source,) = configured_sources(settings, {"HOME": str(home)})
    assert isinstance(source, SkillFolders)
    return source


def test_skills_of_the_project_and_of_the_home_are_read_where_the_configuration_says_so(
    tmp_path: Path,
) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    for place in (root / ".agents/skills/a", home / ".agents/skills/b", home / ".claude/skills/c"):
        write(place, skill(place.name))
    both = configured(root, home, 'places = ["project", "user"]\n').read({})
    assert [draft.capability.name for draft in drafts(both)] == ["a", "b", "c"]
    assert both.problems == ()
    assert [d.capability.name for d in drafts(configured(root, home, 'places = ["user"]\n').read({}))] == [
        "b",
        "c",
    ]
    more = configured(root, home, 'places = ["project"]\npath = "more"\n')
    write(root / "more" / "d", skill("d"))
    assert [draft.capability.name for draft in drafts(more.read({}))] == ["d", "a"]


def test_skills_that_installed_packages_bring_are_read_when_asked_for_and_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "lib" / "site-packages"
    write(packages / "someapi" / ".agents" / "skills" / "someapi", skill("someapi"))
    monkeypatch.syspath_prepend(str(packages))
    source = configured(tmp_path, tmp_path, 'places = ["packages"]\n')
    assert "skill:someapi" in [draft.capability.id for draft in drafts(source.read({}))]
    assert SourceSet((source,)).trust_of(source) == "pinned"
    own = configured(tmp_path, tmp_path, 'places = ["user"]\n')
    assert SourceSet((own,)).trust_of(own) == "full"
    assert SourceSet((source,), {source.name: "none"}).trust_of(source) == "none"
