"""Whether the guard's files are the ones that were shipped.

A guard whose files are missing or damaged cannot tell an attack from an honest text, so what servers say is
held back until it can. `model/digests.json` has the digest of each file beside it; whoever makes new ones
writes it anew with `python -m prowess.guard.integrity`.
"""

import hashlib
import json
from functools import cache, lru_cache
from pathlib import Path

from prowess import guard as guard_room
from prowess import text as text_room

MODEL = Path(__file__).parent / "model"
DIGESTS = "digests.json"
READ = (".py", ".toml", ".json", ".txt")
REINSTALL = "reinstall it: pip install --force-reinstall --no-deps prowess"


def fault(folder: Path | None = None) -> str:
    """What is wrong with the files, empty when nothing is."""
    folder = folder or MODEL
    try:
        known = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return f"{DIGESTS} of the guard cannot be read"
    if not isinstance(known, dict) or not known:
        return f"{DIGESTS} of the guard names no files"
    faults = (_fault(folder / name, digest) for name, digest in sorted(known.items()))
    return next((found for found in faults if found), "")


@cache
def guard_digest() -> str:
    """What the guard is, as a hash: its code, its rules and the digests of its networks."""
    homes = [Path(place) for room in (guard_room, text_room) for place in room.__path__]
    files = sorted(file for home in homes for file in home.rglob("*") if file.suffix in READ)
    each = (hashlib.blake2b(file.read_bytes(), digest_size=20).digest() for file in files)
    return hashlib.blake2b(b"".join(each), digest_size=20).hexdigest()


def write_digests(folder: Path | None = None) -> Path:
    """Write down what the files are now."""
    folder = folder or MODEL
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != DIGESTS)
    known = {file.name: _digest(file) for file in files}
    place = folder / DIGESTS
    place.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    return place


def _fault(file: Path, digest: str) -> str:
    try:
        return "" if _digest(file) == digest else f"{file.name} of the guard is not the file that was shipped"
    except OSError:
        return f"{file.name} of the guard cannot be read"


def _digest(file: Path) -> str:
    now = file.stat()
    return _digest_at(file, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


@lru_cache(maxsize=32)
def _digest_at(file: Path, *state: int) -> str:
    """An engine asks several times while it opens: 27 MB are read again only when a file was touched."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    print(write_digests())  # noqa: T201
