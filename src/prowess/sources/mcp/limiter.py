"""Set the limits of this process, then become the program whose command follows. Needs nothing but Python.

Arguments: processes and threads, megabytes of memory, open files (0: no limit), then the command. Setting
limits between fork and exec in a process with threads can hang it, so they are set in a process of their own.
"""

import os
import resource
import sys
from pathlib import Path


def threads_of(user: int) -> int:
    """How many threads a user has now: the system counts new ones on top of them."""
    count = 0
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue  # it ended meanwhile
    return count


def limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def main(processes: int, megabytes: int, files: int, command: list[str]) -> None:
    if files:
        limit(resource.RLIMIT_NOFILE, files)
    if megabytes:
        # What is written to, not what is reserved: V8 reserves gigabytes that it never uses.
        limit(resource.RLIMIT_DATA, megabytes * 2**20)
    if processes:
        limit(resource.RLIMIT_NPROC, threads_of(os.getuid()) + processes)
    try:
        os.execvp(command[0], command)
    except OSError as failure:
        sys.exit(f"{command[0]}: {failure.strerror}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
