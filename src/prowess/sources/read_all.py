"""Read all sources at once, so that a slow server keeps nobody waiting."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from prowess.sources.name_check import without_forged_names
from prowess.sources.source import Source
from prowess.types import Problem, SourceReading

READERS = 8
AHEAD = 64
"""Sources that are read, or being read, before somebody takes what the first of them offers."""
SyncProgress = Callable[[str, int, int], None]
"""Called with (source, done, total) while a sync reads."""


def no_progress(source: str, done: int, total: int) -> None:
    """The progress nobody watches."""


Stamps = Mapping[str, Mapping[str, str]]
"""Source -> place -> stamp of what need not be read again."""


def read_all(
    sources: Sequence[Source], known: Callable[[Sequence[str]], Stamps], progress: SyncProgress
) -> Iterator[tuple[str, SourceReading]]:
    """Each source's reading, in their order; no more of them are held than are taken in time.

    known: of some sources, what need not be read again.
    """
    waiting = list({source.name: source for source in reversed(sources)}.values())
    jobs: deque[tuple[str, Future[SourceReading]]] = deque()
    with ThreadPoolExecutor(READERS) as readers:
        try:
            while waiting or jobs:
                if waiting and len(jobs) <= AHEAD // 2:
                    some = [waiting.pop() for _ in range(min(AHEAD // 2, len(waiting)))]
                    stamps = known([source.name for source in some])
                    jobs += [
                        (s.name, readers.submit(_read, s, stamps.get(s.name, {}), progress)) for s in some
                    ]
                name, job = jobs.popleft()
                yield name, job.result()
        finally:
            for _, job in jobs:
                job.cancel()


def _read(source: Source, known: Mapping[str, str], progress: SyncProgress) -> SourceReading:
    try:
        reading = source.read(known, lambda done, total: progress(source.name, done, total))
        return without_forged_names(source.name, reading)
    except Exception as failure:  # a source of a user's own may raise anything; the others go on
        why = f"{type(failure).__name__}: {failure}"
        problem = Problem(
            source.name, source.name, f"the source failed ({why})", "mend the source and sync again"
        )
        return SourceReading(down=why, problems=(problem,))
