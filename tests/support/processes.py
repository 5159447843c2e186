"""Programs that a test starts and that end with it, whatever goes wrong in between."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(command: list[str], **options: Any) -> "Iterator[subprocess.Popen[Any]]":
    """Like `with subprocess.Popen(...)`, which waits for ever for a program that does not end."""
    process: subprocess.Popen[Any] = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
