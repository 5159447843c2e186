"""Fuzz both jobs of the guard with atheris: `python bench/guard_fuzz.py -max_total_time=120`.

Not part of the suite; atheris is installed for the occasion, in an environment of its own.
"""

import sys
import time

import atheris

with atheris.instrument_imports():
    from prowess.guard.quotations import code
    from prowess.guard.roles import forgeries, stays
    from prowess.guard.sanitise import admit, judge

SLOWEST = 2.0


def guard(data: bytes) -> None:
    text = atheris.FuzzedDataProvider(data).ConsumeUnicode(4096)
    start = time.process_time()
    once = admit(text)
    assert admit(once) == once, "neutralising twice changed the text"
    shown = code(once)
    assert all(stays(once, forgery, shown) for forgery in forgeries(once)), "a voice survived"
    judge(text, "result")
    assert time.process_time() - start < SLOWEST, "too slow"


if __name__ == "__main__":
    atheris.Setup(sys.argv, guard)
    atheris.Fuzz()
