"""Who is told that a list has changed: clients of the newest revision that listen, and all older ones."""

from collections import OrderedDict

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ServerEvent, ToolsListChanged

MOST_KNOWN = 256
"""Older clients that are remembered; the one that was heard of longest ago is forgotten first."""
SECONDS_TO_TAKE = 1.0


class Listeners(InMemorySubscriptionBus):
    def __init__(self) -> None:
        super().__init__()
        self._older: OrderedDict[object, ServerSession] = OrderedDict()

    def met(self, client: object, session: ServerSession) -> None:
        """Remember a client that cannot listen; telling one that has gone does nothing."""
        self._older[client] = session
        self._older.move_to_end(client)
        while len(self._older) > MOST_KNOWN:
            self._older.popitem(last=False)

    async def publish(self, event: ServerEvent) -> None:
        await super().publish(event)
        async with anyio.create_task_group() as tasks:
            for session in list(self._older.values()):
                tasks.start_soon(_tell, session, event)


async def _tell(session: ServerSession, event: ServerEvent) -> None:
    # A client that does not read holds up nobody.
    with anyio.move_on_after(SECONDS_TO_TAKE):
        match event:
            case ToolsListChanged():
                await session.send_tool_list_changed()
            case ResourcesListChanged():
                await session.send_resource_list_changed()
            case PromptsListChanged():
                await session.send_prompt_list_changed()
