"""A server that is told to end does, whatever hangs in it.

A signal reaches Python only when the interpreter gets a turn: a function that never gives the interpreter
back, a thread nobody can stop or a loop that is stuck would keep the process for ever. The operating system
writes the signal's number into a pipe all the same, and at its other end waits a small process of our own.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SECONDS_TO_CLOSE = 3.0
"""How long closing may take, after the last request."""

# Runs in a process of its own that imports next to nothing; its arguments are read first.
WAITING = """
import os, select, signal, sys, time
pipe, pid, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
ending = bytes(map(int, sys.argv[4:]))
for number in ending:
    signal.signal(number, signal.SIG_IGN)
while True:
    heard = os.read(pipe, 64)
    if not heard:
        sys.exit()
    if any(number in ending for number in heard):
        break
until = time.monotonic() + seconds
while (left := until - time.monotonic()) > 0:
    if select.select([pipe], [], [], left)[0] and not os.read(pipe, 64):
        sys.exit()
os.kill(pid, signal.SIGKILL)
"""


@contextmanager
def ending_in_time(seconds: float) -> Iterator[None]:
    """While this lasts, SIGTERM and SIGINT end the process within that time."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    told = [str(number.value) for number in (signal.SIGTERM, signal.SIGINT)]
    command = [sys.executable, "-I", "-S", "-c", WAITING, str(reading), str(os.getpid()), str(seconds), *told]
    nowhere = subprocess.DEVNULL
    waiting = subprocess.Popen(
        command, pass_fds=(reading,), stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    os.close(reading)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(before)
        os.close(writing)
        with suppress(subprocess.TimeoutExpired):
            waiting.wait(1)
