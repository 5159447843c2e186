"""The table of operations: the same verbs, answers and errors beside the store and over a server."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prowess.cli.main import MODULES
from prowess.cli.remote import COMMANDS, Remote
from prowess.encoding import encoded
from prowess.engine import Engine
from prowess.errors import ApprovalNeeded, ProwessError, RemoteError
from prowess.operations.backend import Backend, Local
from prowess.operations.operation import NO_PARAMS, AnyOperation, Operation, RequestParams
from prowess.operations.person import ORDER, Person
from prowess.operations.table import OPERATIONS
from prowess.types import JsonObject, Outcome
from prowess.web.operations import everything
from prowess.web.problems import TITLES, problem_of, status_of
from scripts.operations import FILE, with_operations
from tests.support.browser import serving
from tests.support.clock import SteppingClock
from tests.support.web import app_of, with_a_past, with_a_project, world

LOCAL_ONLY = {
    *("cards baseline", "jobs --everywhere", "sync --watch"),
    *("policy export", "policy review", "policy_changes replay"),
}
"""What a command that can go over a server does with an engine in its hands."""
IN_MODULES_OF_THEIR_OWN = {"lessons": "lesson_commands", "policy": "policy_changes"}
"""Commands whose parts that can go over a server stand elsewhere."""
SAID: dict[str, JsonObject] = {
    "agent.find": {"request": "read a file"},
    "agent.no_results": {"request": "open the vault of zebras", "kind": "tol"},
    "agent.discover": {"query": "read a file"},
    "why": {"agent": "ada", "id": "tool:read"},
    "policy.propose": {"changes": ["level=read"]},
    "servers.propose": {"name": "clock", "command": "clock-server"},
    "policy.diff": {"before": "owner", "after": "careful"},
    "evolution.difference": {"before": 1, "after": 1},
    "learning.read_ledger": {"text": "(mail: method read)"},
}
RECORDED = "agent.discover"
"""Answers as a read does, and is written down: whoever asks twice reads two searches."""
READS = [one for one in OPERATIONS if not one.writes and one.id != RECORDED]


@pytest.fixture
def engine(tmp_path: Path, store_url: str, clock: SteppingClock) -> Iterator[Engine]:
    with world(tmp_path, store_url, clock) as engine:
        with_a_past(engine)
        offer = engine.offer("send a mail to the moon")
        engine.record(Outcome(offer=offer.id, capability="tool:mail/send", ok=False))
        engine.learning.propose(b'{"method": "tool:read", "spans": ["read me a file"]}', "proposal", "ann")
        engine.tokens.issue("ada")
        with pytest.raises(ApprovalNeeded):
            engine.check("ada", "tool:mail/send", arguments={"to": "the moon"})
        engine.policy.change(engine.policy.propose("careful", "description=Rarely"), "ann")
        engine.learning.learn()
        with_a_project(engine, tmp_path)
        yield engine


@pytest.fixture
def local(engine: Engine) -> Local:
    return Local(engine, Person("ann", "admin"))


@pytest.fixture
def remote(engine: Engine) -> Iterator[Remote]:
    app = app_of(engine)
    token = app.state.people.issue("ann", "admin").text
    with serving(app) as address:
        yield Remote(address, token)


def offer_of(engine: Engine) -> str:
    return str(engine.journal.latest(type="offer")[0].data["offer"])


def asked(engine: Engine, operation: AnyOperation) -> tuple[RequestParams, dict[str, str]]:
    """Something to ask an operation that the store has an answer to."""
    asks = [one.id for one in engine.approvals.list(every=True)]
    ids = {"approvals": asks[0], "requests": offer_of(engine), "capabilities": "tool:read",
           "agents": "tool:read", "quarantine": "skill:summary",
           "lessons": engine.learning.lessons()[0].id, "gaps": engine.learning.gaps()[0].id}  # fmt: skip
    offer = offer_of(engine)
    owners = {"profiles": "owner", "servers": "files"}
    name = next((owners[part] for part in operation.segments if part in owners), "base")
    id = ids.get(operation.segments[0], "")
    known = {"agent": "ada", "number": "1", "offer": offer, "name": name, "id": id}
    said = SAID.get(operation.id, {"id": offer} if operation.id == "journal.trace" else {})
    path = {name: known[name] for name in operation.names}
    return msgspec.convert(said, operation.takes), path | {"agent": "ada"} if operation.about_agent else path


def outcome(backend: Backend, engine: Engine, operation: AnyOperation) -> object:
    """What is answered, as JSON; or the status it is refused with."""
    params, path = asked(engine, operation)
    try:
        return msgspec.json.decode(encoded(backend.call(operation, params, **path)))
    except RemoteError as refused:
        return refused.status
    except ProwessError as error:
        return problem_of(error).status


def test_what_can_be_asked_is_answered_the_same_beside_the_store_and_over_a_server(
    engine: Engine, local: Local, remote: Remote
) -> None:
    here = {one.id: outcome(local, engine, one) for one in READS}
    there = {one.id: outcome(remote, engine, one) for one in READS}
    assert len(here) > 40
    assert {id: (found, there[id]) for id, found in here.items() if found != there[id]} == {}
    assert [id for id, found in here.items() if isinstance(found, int)] == [], "each has an answer here"


def test_a_search_is_answered_the_same_over_a_server_as_beside_the_store_and_each_is_a_search_of_its_own(
    engine: Engine, local: Local, remote: Remote
) -> None:
    one = next(one for one in OPERATIONS if one.id == RECORDED)
    here, there = (outcome(backend, engine, one) for backend in (local, remote))
    assert isinstance(here, dict) and isinstance(there, dict)
    assert here.pop("search") != there.pop("search")
    assert here == there


def test_every_write_has_an_address_that_a_client_reaches(remote: Remote) -> None:
    """Asked about what does not exist or with what cannot be used, each answers with a problem of its own."""
    for operation in (one for one in OPERATIONS if one.writes and (one.names or one.body)):
        path = dict.fromkeys((*operation.names, "agent"), "nobody at all")
        try:
            remote.call(operation, Unusable() if operation.body else NO_PARAMS, **path)
        except RemoteError as refused:
            # An address that is not there is a 404 as well, and says so.
            assert refused.status in (404, 409, 422), (operation.id, refused)
            assert "nothing at this address" not in refused.message, operation.id


class Unusable(RequestParams, frozen=True, kw_only=True):
    nothing_knows_this: bool = True


def test_a_long_list_is_the_same_in_one_piece_and_in_pages(
    local: Local, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.cli.remote.PAGE", 3)
    from prowess.operations.journal import Entries, list_entries

    here = tuple(local.pages(list_entries, Entries()))
    assert len(here) > 3
    assert [one.hash for one in remote.pages(list_entries, Entries())] == [one.hash for one in here]
    for most in (0, 1, 4):
        assert list(local.pages(list_entries, Entries(), most)) == list(here[:most])
        assert list(remote.pages(list_entries, Entries(), most)) == list(here[:most])


def test_each_operation_says_what_it_takes_answers_and_does_under_a_name_and_an_address_of_its_own() -> None:
    operations = everything().operations
    assert len({one.id for one in operations}) == len(operations) > 85
    assert len({(one.method, one.path) for one in operations}) == len(operations)
    for one in operations:
        assert one.method in ("GET", "POST", "PUT", "DELETE") and one.path.startswith("/"), one.id
        assert issubclass(one.takes, RequestParams) and one.answer and one.does, one.id
        assert one.role in ORDER and (one.role != "viewer" or not one.writes), one.id


def test_the_document_names_the_errors_of_each_operation() -> None:
    from prowess.web.openapi import document

    paths = document(everything(), "0")["paths"]
    for one in everything().operations:
        responses = paths[f"/api/v1{one.path}"][one.method.lower()]["responses"]
        for error in one.errors:
            said = responses[str(status_of(error))]["description"]
            assert said.startswith(TITLES[status_of(error)]) and error.__name__ in said, one.id


def calls_in(module: Any) -> Iterator[tuple[str, object]]:
    """The operations that the code of a command names, as (how it is called, what the name stands for)."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("call", "pages") and node.args:
            yield node.func.attr, eval(ast.unparse(node.args[0]), vars(module))


def test_a_command_that_can_go_over_a_server_uses_only_operations_of_the_table() -> None:
    named = [
        *(MODULES.get(name, name) for name in COMMANDS if name != "version"),
        *IN_MODULES_OF_THEIR_OWN.values(),
    ]
    for name in named:
        module = import_module(f"prowess.cli.{name}")
        found = list(calls_in(module))
        assert found or name in IN_MODULES_OF_THEIR_OWN, name
        assert [one for _, one in found if not isinstance(one, Operation) or one not in OPERATIONS] == []
        source = Path(inspect.getfile(module)).read_text()
        assert source.count("with opened(") == sum(one.startswith(f"{name} ") for one in LOCAL_ONLY), name


def test_the_table_in_the_documentation_is_the_table() -> None:
    page = FILE.read_text(encoding="utf-8")
    assert page == with_operations(page), "run: python -m scripts.operations"
