"""The embedder in use: opened when it is first needed, checked at every answer, its failures remembered.

Above stands the index, which serves by words alone while there is a failure; below is whatever
`embedders` opens, which may be a service that is down and comes back.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from prowess.discovery.dense import Matrix
from prowess.discovery.embedders import Opener, checked
from prowess.errors import EncoderUnavailable, ProwessError

if TYPE_CHECKING:
    from prowess.discovery.embedders import Opened

logger = logging.getLogger("prowess")

PAUSE = 60.0
"""Seconds after a failure until it is asked again, unless somebody syncs."""


class Embedding:
    def __init__(self, open: "Callable[[], Opened]", elapsed: Callable[[], float]) -> None:
        self._open = open
        self._elapsed = elapsed
        self._lock = Lock()
        self._opened: Opened | None = None
        self._name = ""
        self._width = 0
        self._is_tried = False
        self._again_at = 0.0
        self.failure: EncoderUnavailable | None = None
        """Why it cannot be used, while it cannot."""

    @property
    def name(self) -> str:
        """What its vectors are kept under; empty where it must be opened for that and cannot be."""
        if not self._name and self.failure is None:
            try:
                self._name = self._open.name if isinstance(self._open, Opener) else self._ready()[0]
            except Exception as failure:
                self._remember(failure)
        return self._name

    def __call__(self, texts: Sequence[str], width: int = 0) -> Matrix:
        """A row of length one for each text, as wide as those that are kept; any failure is the same one."""
        self._is_tried = True
        self._width = width or self._width
        try:
            vectors = self._ready()[1](texts)
            self._check_width(vectors.shape[1])
        except EncoderUnavailable as failure:
            self._remember(failure)
            raise
        except Exception as failure:  # code of the user's own may raise anything
            raise self._remember(failure) from failure
        self.failure = None
        return vectors

    def works(self) -> bool:
        """Whether it can be used; one that failed is asked for a vector to see."""
        if self.failure is not None:
            self._try()
        return bool(self.name) and self.failure is None

    def tried(self) -> EncoderUnavailable | None:
        """Why it cannot be used; one that was never asked is asked for a vector to see."""
        if not self._is_tried:
            self._try()
        return self.failure

    def is_due(self) -> bool:
        """Whether to see, after a failure, if it works again: once in a while, and then for one asker."""
        if self.failure is None or self._elapsed() < self._again_at:
            return False
        self._again_at = self._elapsed() + PAUSE
        return True

    def hurry(self) -> None:
        """Do not wait: what failed may be a single request that it cannot read."""
        self._again_at = 0.0

    def _try(self) -> None:
        with suppress(EncoderUnavailable):
            self(["ready?"])

    def _ready(self) -> "Opened":
        with self._lock:
            if self._opened is None:
                name, embed = self._open()
                self._name = name
                self._opened = name, embed if isinstance(self._open, Opener) else checked(embed)
        return self._opened

    def _check_width(self, width: int) -> None:
        if self._width and width != self._width:
            reason = (
                f"it gives {width} numbers for a text, and what is kept under {self._name} has {self._width}"
            )
            raise EncoderUnavailable(reason, "give another model another name")

    def _remember(self, failure: Exception) -> EncoderUnavailable:
        unavailable = _as_unavailable(failure)
        if self.failure is None:
            logger.warning("search goes by words alone: %s", unavailable)
        self._again_at = self._elapsed() + PAUSE
        self.failure = unavailable
        return unavailable


def _as_unavailable(failure: Exception) -> EncoderUnavailable:
    if isinstance(failure, EncoderUnavailable):
        return failure
    if isinstance(failure, ProwessError):
        return EncoderUnavailable(failure.message, failure.remedy)
    return EncoderUnavailable(f"{type(failure).__name__}: {failure}", "mend it, or use the shipped encoder")
