"""Read all sources at once, so that a slow server keeps nobody waiting."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from prowess.sources.name_check import without_forged_names
from prowess.sources.source import Source
from prowess.types import Problem, SourceReading

READERS = 8
SyncProgress = Callable[[str, int, int], None]
"""Called with (source, done, total) while a sync reads."""


def no_progress(source: str, done: int, total: int) -> None:
    """The progress nobody watches."""


def read_all(
    sources: Sequence[Source], known: Mapping[str, Mapping[str, str]], progress: SyncProgress
) -> dict[str, SourceReading]:
    with ThreadPoolExecutor(READERS) as readers:
        jobs = {s.name: readers.submit(_read, s, known.get(s.name, {}), progress) for s in sources}
        return {name: job.result() for name, job in jobs.items()}


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
