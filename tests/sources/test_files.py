"""Bounded reading: what is refused, and that the refusal says what to do."""

import os
import pwd
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prowess.errors import SourceError
from prowess.sources.files.reading import KIBIBYTE, FolderSearch, read_text, stamp_of


def refusal(root: Path, relative: str, **options: bool | int) -> str:
    with pytest.raises(SourceError) as caught:
        read_text(str(root), relative, **options)  # type: ignore[arg-type]
    assert caught.value.remedy
    return str(caught.value)


def search(root: Path, depth: int = 4, most: int = 100) -> tuple[list[str], list[str]]:
    walk = FolderSearch("here", str(root), frozenset({"WANTED"}), depth, most)
    return [found.folder for found in walk.folders()], [problem.what for problem in walk.problems]


def test_a_text_inside_the_root_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_bytes(b"\xef\xbb\xbfgr\xc3\xbc\xc3\x9fe")
    assert read_text(str(tmp_path), "sub/a.txt") == "grüße"


def test_a_path_that_climbs_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("s")
    for path in ("../secret", "a/../../secret", str(tmp_path / "secret")):
        assert "leaves its folder" in refusal(tmp_path / "root", path)


def test_a_folder_whose_name_begins_like_the_root_is_outside_it(tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards-evil").mkdir()
    (tmp_path / "cards-evil" / "a.md").write_text("evil")
    (tmp_path / "cards" / "a.md").symlink_to(tmp_path / "cards-evil" / "a.md")
    assert "leaves its folder" in refusal(tmp_path / "cards", "a.md")
    assert "leaves its folder" in refusal(tmp_path / "cards", "../cards-evil/a.md")


def test_a_link_inside_the_root_is_followed_only_where_links_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    (tmp_path / "b").symlink_to("a")
    assert read_text(str(tmp_path), "b") == "text"
    assert "symbolic link" in refusal(tmp_path, "b", links=False)


def test_a_linked_folder_on_the_way_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a").write_text("secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "way").symlink_to(tmp_path / "outside")
    assert "leaves its folder" in refusal(tmp_path / "root", "way/a")
    assert "symbolic link" in refusal(tmp_path / "root", "way/a", links=False)


def test_a_link_that_leads_to_itself_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "leads back to itself" in refusal(tmp_path, "a")


def test_a_pipe_is_refused_at_once_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path, "pipe")


def test_a_folder_or_device_instead_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "not a regular file" in refusal(tmp_path, "folder")
    assert "not a regular file" in refusal(Path("/dev"), "null")


def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * KIBIBYTE)
    assert len(read_text(str(tmp_path), "a", limit=KIBIBYTE)) == KIBIBYTE
    (tmp_path / "a").write_bytes(b"x" * (KIBIBYTE + 1))
    assert "larger than 1 KiB" in refusal(tmp_path, "a", limit=KIBIBYTE)


def test_a_huge_sparse_file_is_refused_without_being_read(tmp_path: Path) -> None:
    with open(tmp_path / "a", "wb") as file:
        file.truncate(1 << 40)
    assert "larger than 1024 KiB" in refusal(tmp_path, "a")


def test_bytes_that_are_not_utf8_are_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"fine\n\xff\xfe")
    assert "line 2 is not UTF-8" in refusal(tmp_path, "a")


def test_a_null_character_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\0b")
    assert "null character" in refusal(tmp_path, "a")
    assert "null character" in refusal(tmp_path, "a\0b")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path, "nothing")


def test_a_file_swapped_for_a_link_while_it_is_read_never_leaks_what_lies_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a").write_text("inside")
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "a").write_text("OUTSIDE")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "sub").rename(root / "kept")
            (root / "sub").symlink_to(tmp_path / "evil")
            (root / "sub").unlink()
            (root / "kept").rename(root / "sub")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(2000):
            try:
                assert read_text(str(root), "sub/a") == "inside"
            except SourceError:
                continue
    finally:
        stop.set()
        swapping.join()


def test_a_walk_finds_folders_in_order_and_does_not_enter_what_it_found(tmp_path: Path) -> None:
    for folder in ("b", "a/deep", "a/deep/inner", "node_modules/c"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "WANTED").touch()
    assert search(tmp_path) == (["a/deep", "b"], [])


def test_a_walk_stops_at_its_depth_and_at_its_count(tmp_path: Path) -> None:
    (tmp_path / "1" / "2" / "3").mkdir(parents=True)
    (tmp_path / "1" / "2" / "3" / "WANTED").touch()
    assert search(tmp_path, depth=2)[0] == []
    assert search(tmp_path, depth=3)[0] == ["1/2/3"]
    folders, problems = search(tmp_path, most=2)
    assert folders == [] and "more than 2 folders" in problems[0]


def test_a_walk_survives_linked_loops_and_says_that_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to("b")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "WANTED").touch()
    folders, problems = search(tmp_path)
    assert folders == ["c"]
    assert len(problems) == 2 and all("not followed" in what for what in problems)


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Root may read everything, so root is somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_folder_that_may_not_be_read_is_reported_and_the_others_are_found() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for folder in ("a", "b"):
            (place / folder).mkdir()
            (place / folder / "WANTED").touch()
        (place / "a").chmod(0)
        with as_an_ordinary_user():
            folders, problems = search(place)
        (place / "a").chmod(0o700)
    assert folders == ["b"] and "may not be read" in problems[0]


def test_a_folder_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")
    folders, problems = search(tmp_path)
    assert folders == [] and "not UTF-8" in problems[0]


def test_a_stamp_changes_with_the_file_and_is_empty_while_the_file_is_fresh(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    before = file.stat()
    later = before.st_mtime + 10
    stamp = stamp_of("1", [("a", before)], later)
    assert stamp and stamp == stamp_of("1", [("a", before)], later + 5)
    assert stamp_of("1", [("a", before)], before.st_mtime + 1) == ""
    assert stamp_of("2", [("a", before)], later) != stamp
    file.write_text("other")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stamp_of("1", [("a", file.stat())], later) != stamp
    assert stamp_of("1", [("a", None)], later) == ""
