"""Tasks of servers: a call that is answered with a handle is followed here until it has a result.

Above: `server_calls`. Below: the connection. In revision 2025-11-25 the caller asks for a task, and fetches
what came of it with `tasks/result`, over which the server also asks back. With the newest revision tasks are
an extension: the server decides, and `tasks/get` brings questions and result. What is called here ends with
its result either way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import anyio
from mcp_types import ErrorData, InputRequest, Request, TaskMetadata
from pydantic import TypeAdapter, ValidationError

from prowess.calling.client import Client, ReportProgress
from prowess.calling.mcp.questions import ElicitationClient
from prowess.calling.mcp.upstream import Upstream
from prowess.errors import SourceError
from prowess.types import Capability

SHORTEST_WAIT, USUAL_WAIT, LONGEST_WAIT = 0.05, 0.5, 5.0
"""Seconds between two questions how a task does; the server says what it likes best."""
SECONDS_TO_CANCEL = 2.0

QUESTIONS: TypeAdapter[dict[str, InputRequest]] = TypeAdapter(dict[str, InputRequest])


class TaskRequest(Request[dict[str, Any], str]):
    """About a task; over HTTP its id is in a header as well."""

    name_param: ClassVar[str | None] = "taskId"


@dataclass(frozen=True, slots=True)
class TaskHandle:
    """What a server answered instead of a result."""

    id: str
    is_extension: bool
    """Whether it is the extension of the newest revision."""


def task_wanted(capability: Capability, upstream: Upstream, client: Client) -> TaskMetadata | None:
    """How a call asks for a task: where its server takes none without, or its own client made it as one."""
    execution = capability.metadata.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, Mapping) else None
    wanted = support == "required" or (support == "optional" and client.is_task)
    if not wanted or upstream.asks_by_return:
        return None
    return TaskMetadata(ttl=int(upstream.longest * 1000))


def handle_in(result: Mapping[str, Any]) -> TaskHandle | None:
    """The handle in an answer that is no result yet."""
    task = result.get("task")
    if isinstance(task, Mapping) and isinstance(id := task.get("taskId"), str):
        return TaskHandle(id, is_extension=False)
    if result.get("resultType") == "task" and isinstance(id := result.get("taskId"), str):
        return TaskHandle(id, is_extension=True)
    return None


@dataclass(frozen=True, slots=True)
class FollowedTask:
    """A task of a server, and who is told of it and asked for it."""

    upstream: Upstream
    handle: TaskHandle
    progress: ReportProgress | None
    elicitation_client: ElicitationClient | None

    async def result(self) -> dict[str, Any]:
        """What came of it; a call that is given up cancels its task."""
        try:
            with anyio.fail_after(self.upstream.longest):
                return await self._followed()
        except TimeoutError:
            await self._cancel()
            raise self._error(
                f"its task took more than {self.upstream.longest:g} s and was cancelled"
            ) from None
        except anyio.get_cancelled_exc_class():
            await self._cancel()
            raise

    async def _followed(self) -> dict[str, Any]:
        told = ""
        for number in range(1, 1_000_000):
            state = await self._ask("tasks/get")
            status, said = state.get("status"), str(state.get("statusMessage") or "")
            if self.progress is not None and said and said != told:
                await self.progress(float(number), None, said)
                told = said
            if status == "cancelled":
                raise self._error("its task was cancelled")
            if status != "working":
                found = await (self._extended(state) if self.handle.is_extension else self._fetched())
                if found is not None:
                    return found
            await anyio.sleep(_wait(state))
        raise self._error("its task never ended")

    async def _fetched(self) -> dict[str, Any]:
        """The result in revision 2025-11-25; the server asks, where it has to, while this waits."""
        return await self._ask("tasks/result", {}, self.elicitation_client)

    async def _extended(self, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result that came with the state; nothing where the task goes on, now that it was answered."""
        if state.get("status") == "completed" and isinstance(result := state.get("result"), dict):
            return result
        if state.get("status") == "input_required":
            await self._ask("tasks/update", {"inputResponses": await self._answers(state)})
            return None
        error = state.get("error")
        why = error.get("message") if isinstance(error, Mapping) else state.get("statusMessage")
        raise self._error(str(why or "its task failed")[:400])

    async def _answers(self, state: Mapping[str, Any]) -> dict[str, Any]:
        try:
            asked = QUESTIONS.validate_python(state.get("inputRequests") or {})
        except ValidationError as error:
            raise self._error("what the server asks does not follow the protocol") from error
        answers = {}
        for key, question in asked.items():
            if self.elicitation_client is None:
                raise self._error("asks for more, and nobody can be asked")
            reply = await self.elicitation_client.answer(question, self.upstream.source.name)
            if isinstance(reply, ErrorData):
                raise self._error(f"asks something that was not answered: {reply.message[:300]}")
            answers[key] = reply.model_dump(by_alias=True, mode="json", exclude_none=True)
        return answers

    async def _cancel(self) -> None:
        with anyio.move_on_after(SECONDS_TO_CANCEL, shield=True):
            try:
                await self._ask("tasks/cancel")
            except SourceError:
                return  # it has ended, or the server has

    async def _ask(
        self, method: str, more: Mapping[str, Any] | None = None, asked: ElicitationClient | None = None
    ) -> dict[str, Any]:
        request = TaskRequest(method=method, params={"taskId": self.handle.id, **(more or {})})
        return await self.upstream.ask(request, self.progress if asked else None, asked)

    def _error(self, what: str) -> SourceError:
        return SourceError(self.upstream.source.name, self.upstream.source.safe(what), "")


def _wait(state: Mapping[str, Any]) -> float:
    wished = state.get("pollInterval", state.get("pollIntervalMs"))
    seconds = wished / 1000 if isinstance(wished, int | float) else USUAL_WAIT
    return min(LONGEST_WAIT, max(SHORTEST_WAIT, seconds))
