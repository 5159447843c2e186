"""What a caller would be sent now, as digests: two that differ are two lists.

Above: `listeners`, which tells clients. Below: the lists themselves.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock

import msgspec
from pydantic import BaseModel

from prowess.calling.caller import Caller
from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.gateway.resources import prompts, resources, templates
from prowess.gateway.tools import Tools, tool_list

MOST_KEPT = 256


class Listed:
    """The digests of each caller's lists, made anew where what it sees is not what it was."""

    def __init__(self, engine: Engine, tools: Tools) -> None:
        self._engine = engine
        self._tools = tools
        self._lock = Lock()
        self._kept: OrderedDict[Caller, tuple[View, Mapping[str, str]]] = OrderedDict()

    def of(self, caller: Caller) -> Mapping[str, str]:
        # The conversation is a client's own; what it may see is its agent's.
        caller = replace(caller, conversation="")
        visible = self._engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
        kept = self._kept.get(caller)
        if kept is not None and kept[0] is visible:
            return kept[1]
        found = {
            "tools": _digest(tool_list(self._engine, caller, self._tools)),
            "resources": _digest([*resources(self._engine, visible), *templates(visible)]),
            "prompts": _digest(prompts(self._engine, visible)),
        }
        with self._lock:
            self._kept[caller] = (visible, found)
            self._kept.move_to_end(caller)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found


def _digest(entries: Sequence[BaseModel]) -> str:
    plain = [entry.model_dump(by_alias=True, mode="json", exclude_none=True) for entry in entries]
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()
