"""Calls that clients make as tasks: they get a handle at once, ask how it does, and fetch the result later.

Above: `server`, for clients of revision 2025-11-25. Below: a call like any other, asked of policy and written
into the journal as such. A task belongs to the agent that began it, and to its session where nothing proves
the agent.
"""

import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, InputRequest, LoggingMessageNotificationParams

from prowess.calling.mcp.elicitation_client import AskableClient, Brought
from prowess.sources.mcp.connection import Reply

logger = logging.getLogger("prowess")

SHORTEST_KEPT, USUALLY_KEPT, LONGEST_KEPT = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
"""How long a task is kept, from its beginning on; a client may wish for a time in between."""
MOST_KEPT = 64
"""Tasks of one client that are kept at once."""
MOST_ALTOGETHER = 1024
"""Beyond that the one that ended longest ago is kept no more."""
MILLISECONDS_BETWEEN = 1000
RELATED = "io.modelcontextprotocol/related-task"

Answer = dict[str, Any]
Work = Callable[["Task"], Awaitable[Answer]]


@dataclass(eq=False, slots=True)
class Task:
    """One such call; to what is called also the client, who can be asked while it waits for the result."""

    owner: object
    client: AskableClient
    now: Callable[[], datetime]
    ttl: timedelta
    id: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    status: str = "working"
    message: str = ""
    result: Answer | MCPError | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)
    brought: Brought = field(default_factory=Brought)
    by_return: bool = False
    _began: datetime = field(init=False)
    _changed: datetime = field(init=False)
    _fetching: list[AskableClient] = field(default_factory=list)
    _fetched: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self._began = self._changed = self.now()

    # --- as its client sees it -------------------------------------------------------------------

    @property
    def is_due(self) -> bool:
        return self.now() > self._began + self.ttl

    def state(self) -> Answer:
        said = {"statusMessage": self.message} if self.message else {}
        return {
            "taskId": self.id,
            "status": self.status,
            **said,
            "createdAt": self._began.isoformat(),
            "lastUpdatedAt": self._changed.isoformat(),
            "ttl": int(self.ttl.total_seconds() * 1000),
            "pollInterval": MILLISECONDS_BETWEEN,
        }

    async def fetch(self, client: AskableClient) -> Answer:
        """Wait for the result; whoever waits is whom the call may ask meanwhile."""
        self._fetching.append(client)
        self._fetched.set()
        try:
            await self.over.wait()
        finally:
            self._fetching.remove(client)
            if not self._fetching:
                self._fetched = anyio.Event()
        if isinstance(self.result, MCPError):
            raise self.result
        answer = self.result or {}
        return {**answer, "_meta": {**(answer.get("_meta") or {}), RELATED: {"taskId": self.id}}}

    def end(self, status: str, result: Answer | MCPError) -> None:
        """It has ended so; the first end counts."""
        if self.result is None:
            self.result = result
            self._becomes(status)
            self.over.set()

    def _becomes(self, status: str, message: str = "") -> None:
        self.status, self.message, self._changed = status, message, self.now()

    # --- as what is called sees it ---------------------------------------------------------------

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        if self.result is None:
            of = f" of {total:g}" if total is not None else ""
            self._becomes(self.status, message or f"{progress:g}{of}")

    @property
    def of(self) -> object:
        return self.client.of

    @property
    def answers(self) -> bool:
        return self.client.answers

    def can(self, question: InputRequest) -> bool:
        return self.client.can(question)

    async def answer(self, question: InputRequest, server: str) -> Reply:
        """Its client is asked once it waits for the result, as the protocol has it."""
        if not self.can(question):
            return await self.client.answer(question, server)  # which says so
        self._becomes("input_required", f"{server} asks something")
        while not self._fetching:
            await self._fetched.wait()
        reply = await self._fetching[-1].answer(self._marked(question), server)
        self._becomes("working")
        return reply

    def _marked(self, question: InputRequest) -> InputRequest:
        if question.params is None:
            return question
        about = {**(question.params.meta or {}), RELATED: {"taskId": self.id}}
        return question.model_copy(update={"params": question.params.model_copy(update={"meta": about})})

    async def log(self, message: LoggingMessageNotificationParams, server: str) -> None:
        await self.client.log(message, server)


class Tasks:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._kept: dict[str, Task] = {}
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Tasks go on while this lasts."""
        async with anyio.create_task_group() as self._group:
            try:
                yield
            finally:
                self._group.cancel_scope.cancel()

    def begin(self, owner: object, client: AskableClient, milliseconds: int | None, work: Work) -> Task:
        assert self._group is not None, "tasks are begun while the gateway runs"
        kept = self.of(owner)
        if len(self._kept) >= MOST_ALTOGETHER:
            self._forget(next((task for task in self._kept.values() if task.result is not None), None))
        if len(kept) >= MOST_KEPT:
            self._forget(next((task for task in kept if task.result is not None), None))
        wished = USUALLY_KEPT if milliseconds is None else timedelta(milliseconds=max(0, milliseconds))
        task = Task(owner, client, self._now, min(LONGEST_KEPT, max(SHORTEST_KEPT, wished)))
        self._kept[task.id] = task
        self._group.start_soon(self._carry_out, task, work)
        return task

    def get(self, owner: object, id: str) -> Task:
        found = next((task for task in self.of(owner) if task.id == id), None)
        if found is None:
            raise MCPError(INVALID_PARAMS, "There is no such task here.")
        return found

    def of(self, owner: object) -> list[Task]:
        """Those of one client; what was kept long enough is kept no more."""
        for task in [task for task in self._kept.values() if task.is_due]:
            task.scope.cancel()
            del self._kept[task.id]
        return [task for task in self._kept.values() if task.owner == owner]

    def _forget(self, task: Task | None) -> None:
        if task is None:
            raise MCPError(INTERNAL_ERROR, "Too many tasks are running; cancel some, or wait for them.")
        del self._kept[task.id]

    def cancel(self, owner: object, id: str) -> Task:
        task = self.get(owner, id)
        if task.result is not None:
            raise MCPError(INVALID_PARAMS, f"The task is {task.status} already.")
        task.end("cancelled", MCPError(INTERNAL_ERROR, "The task was cancelled."))
        task.scope.cancel()
        return task

    async def _carry_out(self, task: Task, work: Work) -> None:
        with task.scope:
            try:
                answer = await work(task)
            except MCPError as error:
                task.end("failed", error)
            except Exception:  # one call that goes wrong ends no other
                logger.exception("a task failed")
                task.end(
                    "failed", MCPError(INTERNAL_ERROR, "The task failed; the log of the gateway says why.")
                )
            else:
                task.end("failed" if answer.get("isError") else "completed", answer)
