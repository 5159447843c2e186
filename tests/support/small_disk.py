"""A disk of a few megabytes that can be filled, for whoever may mount one."""

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no room at all."""
        step = 2**24
        with self._ballast.open("ab") as file:
            while step:
                try:
                    os.posix_fallocate(file.fileno(), file.tell(), step)
                    file.seek(0, os.SEEK_END)
                except OSError as failure:
                    if failure.errno != errno.ENOSPC:
                        raise
                    step = step // 2 if step > 4096 else 0

    def clear(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(megabytes: int) -> Iterator[SmallDisk | None]:
    """Nothing where this user may not mount a disk."""
    folder = Path(tempfile.mkdtemp(prefix="prowess-disk-", dir="/tmp"))
    options = f"size={megabytes}m,mode=755"
    mounted = None
    with suppress(FileNotFoundError):
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, timeout=20
        )
    try:
        yield SmallDisk(folder) if mounted and mounted.returncode == 0 else None
    finally:
        if mounted and mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True, timeout=20)
        folder.rmdir()
