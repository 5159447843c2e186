"""Whatever bytes stand in a file, a source answers with values and problems, and soon."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prowess.sources.files.cards import CardFiles
from prowess.sources.files.catalogues import CatalogueFiles
from prowess.sources.files.manifests import Manifests
from prowess.sources.files.plugins import Plugins
from prowess.sources.files.skills import SkillFolders
from prowess.sources.source import Source

SECONDS = 20

READERS: dict[str, Callable[[str], Source]] = {
    "unit/CAPABILITY.yaml": lambda root: Manifests(name="s", paths=(root,)),
    "unit/SKILL.md": lambda root: SkillFolders(name="s", paths=(root,)),
    "unit/PLUGIN.yaml": lambda root: Plugins(name="s", paths=(root,)),
    "card.md": lambda root: CardFiles(name="s", paths=(root,)),
    "list.yaml": lambda root: CatalogueFiles(name="s", paths=(root,)),
    "list.json": lambda root: CatalogueFiles(name="s", paths=(root,)),
}
KEYS = [
    *(
        "name",
        "kind",
        "id",
        "description",
        "tags",
        "metadata",
        "triggers",
        "priority",
        "extensions",
        "channels",
    ),
    *("tools", "faculties", "inputSchema", "requiredSecrets", "skillContent", "allowed-tools", "keywords"),
]
VALUES = [
    "x",
    "tool",
    "[a, b]",
    "{a: b}",
    "7",
    "-1",
    "true",
    "~",
    '"\\u0000"',
    "&a [*a]",
    "../../x",
    "[[[",
    "|",
    "[{}]",
]

lines = st.builds("{}: {}".format, st.sampled_from(KEYS), st.sampled_from(VALUES) | st.text(max_size=12))
shaped = st.lists(lines, max_size=12).map("\n".join)
pages = shaped.map(lambda text: f"---\n{text}\n---\nbody")
contents = st.binary(max_size=400) | (shaped | pages | st.text(max_size=200)).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


def read(file: str, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        source = READERS[file](folder)
        start = time.perf_counter()
        reading = source.read({})
        assert time.perf_counter() - start < SECONDS
        assert source.read({}) == reading
    assert len(reading.entries) <= 1
    for problem in reading.problems:
        assert problem.what and problem.remedy and len(problem.what) < 400
        str(problem).encode()
    for draft in reading.entries[0].drafts or () if reading.entries else ():
        assert draft.capability.id.startswith(f"{draft.capability.kind}:")
        repr(draft).encode()


@pytest.mark.parametrize("file", READERS)
@settings(max_examples=60, deadline=None)
@example(b"")
@example(b"\xff\xfe\x00")
@example(b"[" * 100_000)
@example(b"---\n" + b"[" * 40_000 + b"\n---\n")
@example(b"---\n" * 10_000)
@example(b'{"a":' * 50_000)
@example(b"a: &a [b, b]\nc: [*a, *a]\n")
@given(content=contents)
def test_any_bytes_are_answered_with_values_and_problems(file: str, content: bytes) -> None:
    read(file, content)
