"""The workspaces that are open in this process: opened when first asked for, kept while they are used.

More than a limit are not kept, and none beyond a budget of memory: those nobody has asked for the longest
are closed, but never one that is just answering. Each lives in a task of its own, so that what it began ends
where it began.
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus

from prowess.tenants.memory import MemoryBudget
from prowess.tenants.tenant import Tenant

logger = logging.getLogger("prowess")

OpenTenant = Callable[[str], AbstractAsyncContextManager[Tenant]]


class OpenTenants:
    def __init__(self, opening: OpenTenant, most: int, memory: MemoryBudget | None = None) -> None:
        self._opening = opening
        self._most = most
        self._memory = memory
        self._making_room = False
        self._open: OrderedDict[str, Tenant] = OrderedDict()
        self._locks: dict[str, anyio.Lock] = {}
        self._tasks: TaskGroup | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Which are open, the one asked for last at the end."""
        return tuple(self._open)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                for tenant in self._open.values():
                    tenant.leaving.set()

    @asynccontextmanager
    async def lent(self, name: str) -> AsyncIterator[Tenant]:
        """A workspace, which stays open until this ends."""
        tenant = await self._tenant(name)
        tenant.requests += 1
        try:
            yield tenant
        finally:
            tenant.requests -= 1
            self._close_unused()
            self._use_less()

    async def _tenant(self, name: str) -> Tenant:
        if name not in self._open:
            async with self._locks.setdefault(name, anyio.Lock()):
                if name not in self._open:  # nobody else opened it meanwhile
                    assert self._tasks is not None, "it is asked only while it runs"
                    self._open[name] = await self._tasks.start(self._live, name)
        self._open.move_to_end(name)
        return self._open[name]

    async def _live(self, name: str, *, task_status: TaskStatus[Tenant]) -> None:
        tenant = None
        try:
            async with self._opening(name) as tenant:
                task_status.started(tenant)
                await tenant.leaving.wait()
        except Exception:
            if tenant is None:
                raise  # to the one who asked for it
            logger.exception("the workspace %s ended; it is opened again when it is asked for", name)
        finally:
            if self._open.get(name) is tenant:
                self._open.pop(name, None)
            if tenant:
                tenant.closed.set()

    def _close_unused(self, kept: int | None = None) -> list[Tenant]:
        """Down to so many, if nobody is using the others."""
        too_many = max(0, len(self._open) - (self._most if kept is None else kept))
        leaving = [self._open.pop(name) for name in self._idle[:too_many]]
        for tenant in leaving:
            tenant.leaving.set()
        return leaving

    @property
    def _idle(self) -> list[str]:
        return [name for name, tenant in self._open.items() if not tenant.requests]

    def _use_less(self) -> None:
        """Where memory is short, and there is more than one that could be closed."""
        memory, may = self._memory, not self._making_room and len(self._open) > 1 and self._idle
        if memory and may and memory.is_due() and self._tasks:
            self._making_room = True
            self._tasks.start_soon(self._make_room, memory)

    async def _make_room(self, memory: MemoryBudget) -> None:
        """A portion at a time, and never the last: it is what is used, and would be opened again."""
        try:
            while await to_thread.run_sync(memory.is_exceeded):
                count = len(self._open)
                leaving = self._close_unused(max(1, count - max(1, count // 10)))
                for tenant in leaving:
                    await tenant.closed.wait()
                if not leaving:
                    what = (
                        "%.0f MB are in use, --memory says %g, and no workspace is left that could be closed"
                    )
                    logger.warning(what, memory.used(), memory.megabytes)
                    return
        finally:
            self._making_room = False
