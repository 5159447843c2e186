"""A process that claims work as of a minute ago, says so, and does nothing until it is killed.

python -m tests.store.holder URL WORK
"""

import sys
import time
from pathlib import Path

from prowess.jobs import LENGTH, Jobs
from prowess.opening import now
from prowess.store.opening import open_database

if __name__ == "__main__":
    url, work = sys.argv[1:]
    if Jobs(open_database(url, Path()), lambda: now() - LENGTH, "holder").claim(work):
        print("claimed", flush=True)
    time.sleep(600)
