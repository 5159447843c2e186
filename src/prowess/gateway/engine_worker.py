"""The thread beside the event loop in which the engine is asked before and after every call.

A pool would wake a thread for every piece of work and the loop for every result. Here work that comes while
some is being done waits in one queue, and results that come while the loop is busy are told together, so that
32 calls in flight cost far fewer changes of thread than 64.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import anyio
from anyio import to_thread

Returned = TypeVar("Returned")

SECONDS_TO_FINISH = 1.0
"""How long the end of the gateway waits for work that has begun."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[..., Any]
    arguments: tuple[object, ...]
    context: Context
    future: "asyncio.Future[Any]"


@dataclass(frozen=True, slots=True)
class _Done:
    future: "asyncio.Future[Any]"
    value: Any = None
    error: BaseException | None = None

    def tell(self) -> None:
        if self.future.done():  # whoever wanted it has gone
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class EngineWorker:
    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._done: deque[_Done] = deque()
        self._telling = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        self._loop = asyncio.get_running_loop()
        threads = [Thread(target=self._work, name="clerk", daemon=True) for _ in range(self._threads)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            for _ in threads:
                self._jobs.put(None)
            until = time.monotonic() + SECONDS_TO_FINISH
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))

    async def do(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """Do this in a thread; what was begun is finished, also when nobody waits for it any more."""
        assert self._loop is not None, "calls are made while the gateway runs"
        future: asyncio.Future[Returned] = self._loop.create_future()
        self._jobs.put(_Job(work, arguments, copy_context(), future))
        return await future

    async def finish(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """The same, also when whoever waits for it is cancelled."""
        with anyio.CancelScope(shield=True):
            done = await self.do(work, *arguments)
        return done

    async def aside(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """Do this in any other thread: those who wait for the store need not wait for it, too."""
        return await to_thread.run_sync(work, *arguments)

    # --- in the threads --------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                done = _Done(job.future, job.context.run(job.work, *job.arguments))
            except BaseException as error:  # it belongs to whoever waits for the result
                done = _Done(job.future, error=error)
            self._done.append(done)
            if not self._telling:
                self._telling = True
                self._wake()

    def _wake(self) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:  # the loop has ended, and with it everybody who waited
            self._done.clear()

    def _tell(self) -> None:
        self._telling = False
        while self._done:
            self._done.popleft().tell()
