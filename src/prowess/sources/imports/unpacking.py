"""Unpacking somebody else's zip file: nothing outside its folder, no links, within bounds, whole or not."""

import os
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from prowess.errors import SourceError

MOST_FILES = 20_000
MOST_BYTES = 1024 * 1024 * 1024
LONGEST_NAME = 240
PORTION = 1024 * 1024
RESERVED = '<>:"|?*'

REMEDY = "get it from its author anew; if it is meant to be so, do not use it"


def check_archive(place: str, archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would write outside its folder, holds links, or too much."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise SourceError(place, f"holds more than {MOST_FILES} files", REMEDY)
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise SourceError(place, f"holds more than {MOST_BYTES // 2**20} MB", REMEDY)
    seen: set[str] = set()
    for entry in entries:
        if fault := _fault(entry):
            raise SourceError(place, f"holds {ascii(entry.filename)[:80]}, {fault}", REMEDY)
        key = entry.filename.rstrip("/").casefold()
        if key in seen and not entry.is_dir():
            raise SourceError(place, f"holds {ascii(entry.filename)[:80]} twice", REMEDY)
        seen.add(key)


def unpack(archive_file: Path, folder: Path) -> None:
    """Unpack an archive into a folder that is there afterwards with all of it, or not at all."""
    if folder.exists():
        return
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True, mode=0o700)
    try:
        with zipfile.ZipFile(archive_file) as archive:
            check_archive(str(archive_file), archive)
            _extract(str(archive_file), archive, fresh)
        os.replace(fresh, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise SourceError(str(archive_file), f"cannot be unpacked: {error}", REMEDY) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _extract(place: str, archive: zipfile.ZipFile, folder: Path) -> None:
    left = MOST_BYTES
    for entry in archive.infolist():
        target = folder.joinpath(*PurePosixPath(entry.filename).parts)
        if entry.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as source, target.open("xb") as written:
            # What an archive says of its sizes may be a lie: what comes out is counted.
            while portion := source.read(PORTION):
                left -= len(portion)
                if left < 0:
                    raise SourceError(place, f"holds more than {MOST_BYTES // 2**20} MB", REMEDY)
                written.write(portion)
        is_program = (entry.external_attr >> 16) & stat.S_IXUSR
        target.chmod(0o700 if is_program else 0o600)


def _fault(entry: zipfile.ZipInfo) -> str:
    name = entry.filename
    mode = entry.external_attr >> 16
    parts = name.rstrip("/").split("/")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "which is a link or no file"
    if name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in parts):
        return "which lies outside its folder"
    if not name.isprintable() or any(sign in name for sign in RESERVED) or len(name) > LONGEST_NAME:
        return "which is no name for a file"
    return "which is encrypted" if entry.flag_bits & 1 else ""
