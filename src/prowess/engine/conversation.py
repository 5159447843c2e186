"""A chat over many turns: a list of tools that only grows, in one order, so that prompt caches hold.

    talk = engine.conversation("ada", format="openai")
    turn = talk.turn("find flights to Oslo")      # its text follows the history, talk.instructions precede it
    said = client.chat.completions.create(model=..., messages=..., tools=talk.tools)
    for call in talk.calls(said):
        messages.append(talk.respond(call))       # what a search finds is callable at once

Above: user code and integrations. Below: the engine's turn and call. What is shown here was neutralised, and
whatever is called is looked up, validated and decided on anew: a conversation holds no permission.
"""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import msgspec

from prowess.calling.finding import named
from prowess.calling.results import said
from prowess.engine.conversation_state import ConversationState, ShownTool
from prowess.errors import CallFailed, ConfigError, NotFound
from prowess.options import CallOptions, SearchOptions
from prowess.policy.arguments import digest_of
from prowess.prompt.formats.format import ToolFormat
from prowess.prompt.formats.known import tool_format
from prowess.prompt.render import CALLABLE, DISCOVER_TOOL
from prowess.tool_names import tool_name
from prowess.types import DISCOVER, CallResult, Decision, Json, JsonObject, Message, Offer, ToolCall, Turn

if TYPE_CHECKING:
    from prowess.engine.engine import Engine

MAX_SHOWN_WHOLE = 50
"""Beyond so many tools, showing all of them is never cheaper than a search, and need not be counted."""
KEPT_SHARE = 0.5
"""How much of its budget a new epoch may begin with."""
GONE = "{0} is gone: it was here earlier in this conversation and is not any more. " + (
    f"{DISCOVER} finds what there is."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    """One turn of a conversation."""

    offer: Offer  # what was found for it
    text: str  # for the prompt, behind the history: it changes every turn; plain, so that hosts may copy it
    new: tuple[str, ...] = ()  # names of the tools that were not in the list before
    new_epoch: bool = False  # whether the list was begun anew, which costs the prompt cache once


class Conversation:
    """What one chat of an agent keeps from turn to turn. Made by `Engine.conversation`.

    engine: the engine it was made by.
    state: what it has kept so far.
    """

    def __init__(self, engine: "Engine", state: ConversationState) -> None:
        self._engine = engine
        self._state = state
        self._state.id = state.id or engine.internals.options.ids()
        self._format = tool_format(state.format) if state.format else None
        self._lock = threading.RLock()
        self._last: ConversationTurn | None = None

    # --- what the model sees ---------------------------------------------------------------------

    @property
    def engine(self) -> "Engine":
        """The engine it was made by."""
        return self._engine

    @property
    def agent(self) -> str:
        """Whose conversation it is."""
        return self._state.agent

    @property
    def format(self) -> str:
        """The provider's format, such as "openai"; empty where it has none."""
        return self._state.format

    @property
    def epoch(self) -> int:
        """How often the list of tools was begun, from 1."""
        return self._state.epoch

    @property
    def instructions(self) -> str:
        """What precedes the history and stays the same: which kinds of capabilities there are."""
        return self._state.instructions

    @property
    def last(self) -> ConversationTurn | None:
        """The turn that goes on; after it was resumed, as far as what was shown is still kept."""
        if self._last is None and self._state.offer:
            with suppress(NotFound):
                offer = self._engine.trace(self._state.offer).offer
                self._last = ConversationTurn(offer=offer, text=self._text(offer)) if offer else None
        return self._last

    @property
    def names(self) -> tuple[str, ...]:
        """The tools in the list, in its order."""
        return (*(() if self._state.whole else (DISCOVER,)), *self._listed())

    @property
    def defers(self) -> bool:
        """Whether everything that is allowed is in the list, most of it to be searched for."""
        return self._state.defers and not self._state.whole

    @property
    def deferred(self) -> Collection[str]:
        """The tools in the list that the model learns of by searching alone."""
        return [name for name in self._listed() if name not in self._state.at_once] if self.defers else ()

    @property
    def tools(self) -> list[Json]:
        """The list of tools for a request, in the conversation's format; only ever appended to."""
        listed = [self._state.shown[name].definition for name in self._listed()]
        made = listed if self._state.whole else [DISCOVER_TOOL, *listed]
        if self._format is None:
            return [*made]
        return self._format.tools(made, defer=self.deferred)

    def turn(
        self, said: str | Iterable[Message], *, key: str = "", needs: Sequence[str] = (),
        **options: Unpack[SearchOptions],
    ) -> ConversationTurn:  # fmt: skip
        """Something came in: make an offer for it, and add what is new to the list.

        said: the text of the user, or the messages of the chat, the newest last.
        key: names this turn, so that a host that repeats it makes one offer.
        needs: the steps of a plan, where the host made one; each is searched for by itself.
        options: keys of [discovery] for this turn, such as tier1_top_k=3.
        """
        messages = (Message("user", said),) if isinstance(said, str) else tuple(said)
        with self._lock:
            if key and key == self._state.key and (repeated := self.last):
                return repeated
            settings: SearchOptions = {"tier0_token_budget": 0, "few_tools_whole": True, **options}
            asked = Turn(messages=messages, agent=self.agent, needs=tuple(needs))
            offer = self._engine.offer(asked, **settings)
            self._state.turns += 1
            self._state.key, self._state.offer = key, offer.id
            ids = dict(offer.tool_ids)
            definitions = [tool for tool in offer.tools if tool["name"] in ids]
            if self._state.turns == 1:
                self._begin(offer)
            if self._state.whole:  # what came meanwhile, too: nobody could search for it
                definitions, ids = list(self._engine.definitions(self.agent)), self._ids()
            new, new_epoch = self._add(definitions, ids, offer.id)
            if self._state.defers and self._state.turns == 1 and not self._state.whole:
                self._state.at_once = list(new)
                self._defer_the_rest()
            self._last = ConversationTurn(offer=offer, text=self._text(offer), new=new, new_epoch=new_epoch)
            return self._last

    # --- what the model does ---------------------------------------------------------------------

    def calls(self, said: object) -> tuple[ToolCall, ...]:
        """What the model wants called, read from its answer in the conversation's format.

        said: the response, or the message in it, as the SDK gives it or as plain JSON.
        """
        shown = [one.definition for one in self._state.shown.values()]
        return self._written().calls(said, [DISCOVER_TOOL, *shown])

    def call(self, name: str, arguments: Json = None, **options: Unpack[CallOptions]) -> CallResult:
        """Call a tool by the name it has here; what a search finds is in the list from then on.

        name: as the model calls it.
        arguments: as the model gave them.
        options: `key`, `fields`, `authenticated`.
        """
        gone = self._gone(name)
        if gone is not None:
            return gone
        offer = self._offer_of(name)
        result = self._engine.call(name, arguments, agent=self.agent, offer=offer, **options)
        return self._noted(name, result)

    async def acall(self, name: str, arguments: Json = None, **options: Unpack[CallOptions]) -> CallResult:
        """What `call` does, awaited.

        name: as the model calls it.
        arguments: as the model gave them.
        options: `key`, `fields`, `authenticated`.
        """
        gone = self._gone(name)
        if gone is not None:
            return gone
        offer = self._offer_of(name)
        result = await self._engine.acall(name, arguments, agent=self.agent, offer=offer, **options)
        return self._noted(name, result)

    def respond(self, call: ToolCall, **options: Unpack[CallOptions]) -> Json:
        """Make a call, and give the message that answers it in the conversation's format.

        call: as `calls` read it.
        options: `key`, `fields`, `authenticated`.
        """
        return self.answer(call, self.call(call.name, call.arguments, **options))

    async def arespond(self, call: ToolCall, **options: Unpack[CallOptions]) -> Json:
        """What `respond` does, awaited.

        call: as `calls` read it.
        options: `key`, `fields`, `authenticated`.
        """
        return self.answer(call, await self.acall(call.name, call.arguments, **options))

    def answer(self, call: ToolCall, result: CallResult) -> Json:
        """The message that answers a call that was made.

        call: as `calls` read it.
        result: what came of it.
        """
        written = self._written()
        found = self.found(result) if call.name == DISCOVER and self.defers else ()
        if result.is_error or not found:  # what was found may also be no tool, and be named in the text
            return written.result(call, result)
        return written.found(call, [self._state.shown[name].definition for name in found])

    def found(self, result: CallResult) -> tuple[str, ...]:
        """The tools in the list that a call of `discover_capabilities` found, best first.

        result: what came of it.
        """
        return tuple(one for one in map(_name_of, _found(result)) if one in self._state.shown)

    def decide(self, name: str) -> Decision:
        """What policy would say about a call, such as "ask"; recorded nowhere.

        name: as the model calls it.
        """
        shown = self._state.shown.get(name)
        return self._engine.decide(self.agent, shown.id if shown else name)

    def key_of(self, call: ToolCall) -> str:
        """A key for a call, so that a host that repeats it does not do it twice; none where it has no id.

        It is one for each turn, id and arguments, since some providers count the ids of their calls from 0.

        call: as `calls` read it, with the id that the model gave it.
        """
        what = digest_of({"name": call.name, "arguments": call.arguments})
        return f"{self._state.id}/{self._state.turns}/{call.id}/{what[:16]}" if call.id else ""

    # --- elsewhere -------------------------------------------------------------------------------

    def dump(self) -> str:
        """Everything it has kept, as JSON: `engine.conversation(resume=...)` goes on with it, anywhere."""
        with self._lock:
            return msgspec.json.encode(self._state).decode()

    # --- the list --------------------------------------------------------------------------------

    def _listed(self) -> list[str]:
        """The names in the list now: what is held back leaves it at once."""
        held = self._engine.internals.world(self.agent).view.quarantined
        return [name for name, one in self._state.shown.items() if one.id not in held]

    def _add(
        self, definitions: Iterable[JsonObject], ids: Mapping[str, str], offer: str
    ) -> tuple[tuple[str, ...], bool]:
        """Put what is new at the end of the list; where it does not fit, a new list begins."""
        offering = self._engine.internals.parts.offering
        new: dict[str, ShownTool] = {}
        for definition in definitions:
            name = str(definition["name"])
            if known := self._state.shown.get(name):
                known.offer = offer
            else:
                cost = offering.cost_of_tool(definition)
                new[name] = ShownTool(ids[name], dict(definition), offer, cost)
        is_full = bool(new) and bool(self._state.budget) and self._cost(new) > self._state.budget
        if is_full:
            self._begin_anew(new)
        self._state.shown = {**self._state.shown, **new}
        return tuple(new), is_full

    def _begin(self, offer: Offer) -> None:
        """The first turn: a map and a search, or everything at once where that costs no more."""
        instructions = self._map()
        made, count = self._engine.definitions(self.agent), self._engine.internals.parts.offering
        searching = count.cost_of_text(instructions) + offer.tokens.total
        costs = [count.cost_of_tool(one) for one in made[:MAX_SHOWN_WHOLE]]
        is_small = len(made) <= MAX_SHOWN_WHOLE and sum(costs) <= searching
        self._state.whole = is_small and not (self._state.budget and sum(costs) > self._state.budget)
        self._state.instructions = "" if self._state.whole else instructions

    def _text(self, offer: Offer) -> str:
        """What the list of tools does not say: where all that was found is in it, only which they are."""
        deferred = set(self.deferred)
        listed = {one.id: name for name, one in self._state.shown.items() if name not in deferred}
        if offer.cards or any(hit.id not in listed for hit in offer.hits):
            return str(offer.text)
        fitting = ", ".join(listed[hit.id] for hit in offer.hits)
        return f"Tools that fit: {fitting}." if fitting and not self._state.whole else ""

    def _cost(self, new: Mapping[str, ShownTool]) -> int:
        return sum(one.tokens for one in (*self._state.shown.values(), *new.values()))

    def _begin_anew(self, new: Mapping[str, ShownTool]) -> None:
        """A new epoch: what was used last stays, as far as half of the budget goes."""
        room = self._state.budget * KEPT_SHARE - sum(one.tokens for one in new.values())
        kept: set[str] = set()
        used = [(name, one) for name, one in self._state.shown.items() if one.used]
        for name, one in sorted(used, key=lambda pair: -pair[1].used):
            if one.tokens <= room:
                kept.add(name)
                room -= one.tokens
        self._state.shown = {name: one for name, one in self._state.shown.items() if name in kept}
        self._state.epoch += 1
        self._state.instructions = self._map()

    def _defer_the_rest(self) -> None:
        """What is allowed is in the request from the first turn on, and in the prompt once it is found."""
        made = self._engine.definitions(self.agent)
        ids = self._ids()
        new = {
            str(one["name"]): ShownTool(ids[str(one["name"])], dict(one))
            for one in made
            if one["name"] not in self._state.shown and one["name"] in ids
        }
        self._state.shown = {**self._state.shown, **new}

    def _ids(self) -> dict[str, str]:
        visible = self._engine.internals.world(self.agent).visible(self.agent).capabilities
        return {tool_name(id): id for id, each in visible.items() if each.kind in CALLABLE}

    def _map(self) -> str:
        from prowess.engine.turn import areas_of  # numpy, at the first turn

        inner = self._engine.internals
        world = inner.world(self.agent)
        visible = world.visible(self.agent)
        areas = areas_of(visible, inner.search(world))
        return str(inner.parts.offering.map_of(visible, self.agent, inner.discovery, areas))

    # --- calls -----------------------------------------------------------------------------------

    def _offer_of(self, name: str) -> str:
        """What a call answers: whatever showed the tool last; a search answers the turn it is made in."""
        if name == DISCOVER:
            return self._state.offer
        shown = self._state.shown.get(name)
        return shown.offer if shown else ""

    def _gone(self, name: str) -> CallResult | None:
        """What was shown here and has been withdrawn says so; what is denied is unknown, as everywhere."""
        shown = self._state.shown.get(name)
        if shown is None:
            return None
        view = self._engine.internals.world(self.agent).view
        there = named(name, view)
        if there is not None and not view.off(there.provider, self.agent):
            return None
        text = GONE.format(name)
        error = CallFailed(shown.id, "unavailable", "it is gone")
        content = tuple(said(text)["content"])
        return CallResult(capability=shown.id, ending="unavailable", content=content, error=error)

    def _noted(self, name: str, result: CallResult) -> CallResult:
        """Remember what was used; what a search found is callable from now on."""
        with self._lock:
            if shown := self._state.shown.get(name):
                shown.used = self._state.turns
            if name == DISCOVER and not result.is_error:
                self._found(result)
        return result

    def _found(self, result: CallResult) -> None:
        ids = {_name_of(one): str(one["id"]) for one in _found(result) if one["kind"] in CALLABLE}
        definitions = self._engine.definitions(self.agent, names=tuple(ids))
        self._add([one for one in definitions if one["name"] in ids], ids, result.offer)

    def _written(self) -> ToolFormat:
        if self._format is None:
            what = "this conversation has no format"
            raise ConfigError("conversation", what, 'give it one: engine.conversation(format="openai")')
        return self._format


def _found(result: CallResult) -> list[JsonObject]:
    found = result.structured.get("capabilities") if isinstance(result.structured, Mapping) else None
    return list(found or ())


def _name_of(found: JsonObject) -> str:
    return str(found["name"])
