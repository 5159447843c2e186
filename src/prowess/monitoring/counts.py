"""How many requests there were and how long they took, as the text that Prometheus reads.

Nothing here says who asked or for what: a label is one of a few words.
"""

import os
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
STATM = "/proc/self/statm"


@dataclass(slots=True)
class RequestCounts:
    """Counted in the event loop, by one thread."""

    running: int = 0
    _answered: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _within: dict[str, list[int]] = field(default_factory=dict)
    _seconds: Counter[str] = field(default_factory=Counter)

    def answered(self, face: str, method: str, status: int, seconds: float) -> None:
        self._answered[face, method if method in METHODS else "other", status] += 1
        within = self._within.setdefault(face, [0] * (len(SECONDS) + 1))
        within[bisect_left(SECONDS, seconds)] += 1
        self._seconds[face] += seconds  # type: ignore[assignment]

    def lines(self) -> Iterator[str]:
        yield from _about("prowess_requests_total", "counter", "Requests that were answered.")
        for (face, method, status), count in sorted(self._answered.items()):
            yield f'prowess_requests_total{{face="{face}",method="{method}",status="{status}"}} {count}'
        yield from _about("prowess_request_seconds", "histogram", "How long requests took.")
        for face, within in sorted(self._within.items()):
            seen = 0
            for limit, count in zip((*map(str, SECONDS), "+Inf"), within, strict=True):
                seen += count
                yield f'prowess_request_seconds_bucket{{face="{face}",le="{limit}"}} {seen}'
            yield f'prowess_request_seconds_sum{{face="{face}"}} {self._seconds[face]:.6f}'
            yield f'prowess_request_seconds_count{{face="{face}"}} {seen}'
        yield from gauge("prowess_requests_running", "Requests that are being answered.", self.running)


def gauge(name: str, what: str, value: float) -> Iterator[str]:
    yield from _about(name, "counter" if name.endswith("_total") else "gauge", what)
    yield f"{name} {value:g}" if value < 1e6 else f"{name} {value:.0f}"


def of_process() -> Iterator[str]:
    """What the operating system says of this process, under the names everybody uses."""
    yield from _about("process_cpu_seconds_total", "counter", "Processor time used.")
    yield f"process_cpu_seconds_total {time.process_time():.3f}"
    if sys.platform == "linux":
        yield from gauge("process_resident_memory_bytes", "Memory that is in use.", resident_bytes())


def resident_bytes() -> int:
    """What this process has in memory; on Linux."""
    with open(STATM, encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def text_of(counts: RequestCounts, gauges: Mapping[str, tuple[str, float]]) -> str:
    """gauges: name -> what it says, and its value now."""
    lines = [*counts.lines(), *of_process()]
    for name, (what, value) in gauges.items():
        lines += gauge(name, what, value)
    return "\n".join([*lines, ""])


def _about(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"
