"""Measure conversations: `python -m bench.conversation SET [--tools 300] [--chats 20]`. Prints Markdown.

SET is a labelled set (tools.jsonl and queries.jsonl). A chat is ten of its requests, one after the other. The
model calls what each request needs: at once if it is in its list, after a search otherwise. Every request to
the model is written down as the provider gets it, tools first, then instructions, then the history. `kept` is
the share of its tokens before the first byte that differs from the request before: what a cache can serve.

Beside it, on the same chats: an offer of its own for each request, every tool in every request, and the
search tools of ToolRegistry and Pydantic AI with a list that grows by what they find, where installed.
"""

import argparse
import json
import random
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.peers.shelf import K, Shelf
from prowess import Engine, ToolCall
from prowess.config import Config
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.token_counts import counter
from prowess.tool_names import tool_name
from prowess.types import DISCOVER, Capability, Detail, JsonObject

TURNS = 10
POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}\n'
DEFERRING = ("anthropic", "responses")
COUNT = counter(True).count

Ask = tuple[str, tuple[str, ...]]
"""A request, and the names of the tools it needs."""


@dataclass
class Chat:
    """The requests to a model, as text, and what it took."""

    sent: list[tuple[str, str]] = field(default_factory=list)
    """Tools and instructions, then the history, of each."""
    needed: int = 0
    offered: int = 0
    searches: int = 0

    def send(self, tools: Sequence[Any], instructions: str, history: Sequence[Any]) -> None:
        self.sent.append((_json(tools) + instructions, "".join(map(_json, history))))

    @property
    def tokens(self) -> int:
        return sum(COUNT(head) + COUNT(tail) for head, tail in self.sent)

    @property
    def kept(self) -> float:
        """The mean share of a request that the one before began with."""
        shares = []
        for before, after in pairwise("".join(one) for one in self.sent):
            same = next(
                (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before)
            )
            shares.append(COUNT(after[:same]) / COUNT(after))
        return statistics.mean(shares)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def by_conversation(engine: Engine, format: str, asks: Sequence[Ask]) -> Chat:
    """What prowess does; where the provider can defer tools, they do not count until they are found."""
    talk, chat, history = engine.conversation(format=format), Chat(), []
    shown: list[str] = []
    for request, needed in asks:
        turn = talk.turn(request)
        history += [{"role": "user", "content": request}]
        if turn.text:
            history += [{"role": "developer", "content": turn.text}]
        there = {tool_name(id) for id in turn.offer.tool_ids.values()}
        shown += [name for name in talk.names if name not in shown and name not in _deferred(talk.tools)]
        chat.needed += len(needed)
        chat.offered += len(set(needed) & there)
        chat.send(_in_prompt(talk.tools), talk.instructions, history)
        if not set(needed) <= there:
            chat.searches += 1
            search = ToolCall(name=DISCOVER, arguments={"query": request}, id=f"s{len(history)}")
            history += [{"calls": [search.name, search.arguments]}, talk.respond(search)]
            chat.send(_in_prompt(talk.tools), talk.instructions, history)
        history += [{"calls": list(needed)}, {"results": ["done"] * len(needed)}]
        chat.send(_in_prompt(talk.tools), talk.instructions, history)
    return chat


def _deferred(tools: Iterable[Any]) -> set[str]:
    return {str(tool.get("name")) for tool in tools if tool.get("defer_loading")}


def _in_prompt(tools: Sequence[Any]) -> list[Any]:
    return [tool for tool in tools if not tool.get("defer_loading")]


def by_offers(engine: Engine, asks: Sequence[Ask]) -> Chat:
    """An offer for each request, which is the whole list: what one gets without a conversation."""
    chat, history = Chat(), []
    for request, needed in asks:
        offer = engine.offer(request)
        history += [{"role": "user", "content": request}]
        chat.needed += len(needed)
        chat.offered += len(set(needed) & offer.tool_ids.keys())
        chat.send(offer.tools, offer.text, history)
        history += [{"calls": list(needed)}, {"results": ["done"] * len(needed)}]
        chat.send(offer.tools, offer.text, history)
    return chat


def by_everything(definitions: Sequence[JsonObject], asks: Sequence[Ask]) -> Chat:
    chat, history = Chat(), []
    for request, needed in asks:
        history += [{"role": "user", "content": request}]
        chat.needed += len(needed)
        chat.offered += len(needed)
        chat.send(definitions, "", history)
        history += [{"calls": list(needed)}, {"results": ["done"] * len(needed)}]
        chat.send(definitions, "", history)
    return chat


def by_peer(
    search: Callable[[str], Sequence[str]], definitions: dict[str, JsonObject], asks: Sequence[Ask]
) -> Chat:
    """A list that begins with a search tool and grows by what is found; each request is searched for."""
    chat, history = Chat(), []
    listed: dict[str, JsonObject] = {"search": {"name": "search", "description": "Find tools for a task."}}
    for request, needed in asks:
        history += [{"role": "user", "content": request}]
        chat.send([*listed.values()], "", history)
        found = [tool_name(id) for id in search(request)][:K]
        listed |= {name: definitions[name] for name in found if name in definitions}
        chat.searches += 1
        chat.needed += len(needed)
        chat.offered += len(set(needed) & set(found))
        history += [{"calls": ["search", request]}, {"results": found}]
        chat.send([*listed.values()], "", history)
        history += [{"calls": list(needed)}, {"results": ["done"] * len(needed)}]
        chat.send([*listed.values()], "", history)
    return chat


def peers(shelf: Shelf) -> Iterator[tuple[str, Callable[[str], Sequence[str]]]]:
    for name, module in (("ToolRegistry", "toolregistry"), ("Pydantic AI", "pydantic_ai")):
        try:
            yield name, import_module(f"bench.peers.{module}").build(shelf)
        except ImportError:
            continue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--tools", type=int, default=300)
    parser.add_argument("--chats", type=int, default=20)
    chosen = parser.parse_args()
    tools, chats = drawn(chosen.set, chosen.tools, chosen.chats)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), tools) as engine:
        definitions = {str(one["name"]): one for one in engine.definitions()}
        rows: list[tuple[str, list[Chat]]] = [
            (f"prowess, `{name}`", [by_conversation(engine, name, asks) for asks in chats])
            for name in ("openai", "gemini", *DEFERRING)
        ]
        rows += [("prowess, an offer each", [by_offers(engine, asks) for asks in chats])]
        rows += [("every tool, always", [by_everything([*definitions.values()], asks) for asks in chats])]
        found, details = catalogue(tools)
        for name, search in peers(Shelf(found, details, word_embedder()[1])):
            rows += [(name, [by_peer(search, definitions, asks) for asks in chats])]
    print(report(rows, chosen))


def drawn(folder: Path, count: int, number: int) -> tuple[list[JsonObject], list[list[Ask]]]:
    """Some tools, and chats of requests that need nothing else; always the same ones."""
    chance = random.Random(7)
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    known = {tool["id"]: tool for tool in map(json.loads, (folder / "tools.jsonl").read_text().splitlines())}
    chance.shuffle(queries)
    needed = list(dict.fromkeys(id for query in queries if query["gold"] for id in query["gold"]))[
        : count // 2
    ]
    rest = [id for id in known if id not in needed]
    tools = [known[id] for id in sorted({*needed, *chance.sample(rest, min(len(rest), count - len(needed)))})]
    ids = {tool["id"] for tool in tools}
    fitting = [query for query in queries if query["gold"] and set(query["gold"]) <= ids]
    asks = [(query["query"], tuple(tool_name(f"tool:{id}") for id in query["gold"])) for query in fitting]
    return tools, [asks[start : start + TURNS] for start in range(0, number * TURNS, TURNS)]


def opened(folder: Path, tools: Sequence[JsonObject]) -> Engine:
    (folder / "policy.yaml").write_text(POLICY)
    found, details = catalogue(tools)
    source = StaticSource(name="set", capabilities=found, details=details)
    options = EngineOptions(policy_files=(folder / "policy.yaml",), discovery=Config().discovery)
    engine = Engine(open_database("sqlite::memory:", folder), [source], now, {}, options)
    engine.sync()
    return engine


def catalogue(tools: Sequence[JsonObject]) -> tuple[list[Capability], dict[str, Detail]]:
    found = [capability(f"tool:{tool['id']}", tool["description"] or tool["name"]) for tool in tools]
    return found, {f"tool:{tool['id']}": Detail(input_schema=schema_of(tool)) for tool in tools}


def schema_of(tool: JsonObject) -> JsonObject:
    given = tool.get("parameters") or {}
    return given if given.get("type") == "object" else {"type": "object", "properties": given}


def report(rows: Iterable[tuple[str, list[Chat]]], chosen: argparse.Namespace) -> str:
    lines = [
        "# Conversations",
        "",
        f"`python -m bench.conversation {chosen.set.name} --tools {chosen.tools} --chats {chosen.chats}`:"
        f" {TURNS} turns each.",
        "",
        "| way | tokens a chat | kept | needed tools shown | searches a chat |",
        "|---|---|---|---|---|",
    ]
    for name, chats in rows:
        tokens = statistics.mean(chat.tokens for chat in chats)
        kept = statistics.mean(chat.kept for chat in chats)
        shown = sum(chat.offered for chat in chats) / sum(chat.needed for chat in chats)
        searches = statistics.mean(chat.searches for chat in chats)
        lines.append(f"| {name} | {tokens:,.0f} | {kept:.1%} | {shown:.1%} | {searches:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
