"""One server as another program reaches it, read for prowess: without secrets and that program's references.

Above: the importers. Below: `redaction` and `placeholders`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prowess.errors import SourceError
from prowess.sources.imports.documents import Table
from prowess.sources.imports.found import KeyPath, texts
from prowess.sources.imports.redaction import Redaction
from prowess.sources.mcp.self_check import answers_as_prowess, is_address_of_prowess, runs_prowess

ITSELF = "is prowess itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedServer:
    """A server as another program reaches it; `variables` says which ones to set and where each came from."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What stood in the place of a variable."""
    originals: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The other program's own reference to what a variable holds, as its file has it."""
    at: tuple[KeyPath, ...] = ()
    """Where it stands in the file: once, or once for each project that repeats it."""


def imported_server(
    place: str, redaction: Redaction, table: object, folder: str, at: Sequence[KeyPath]
) -> ImportedServer:
    """One entry of a client's configuration; raises a `SourceError` for one that prowess cannot use."""
    place = f"{place}: server {redaction.server!r}"
    if not isinstance(table, dict):
        raise SourceError(place, "is not a table", "correct it, or remove it")
    command, args = _command(place, table)
    _check_useful(place, table, command, args)
    url = next((found for key in URLS if (found := _text(place, table, key))), "")
    if bool(command) == bool(url):
        raise SourceError(place, "has neither a command nor a url, or both", "give it one of the two")
    if url and (is_address_of_prowess(redaction.server, url) or answers_as_prowess(url)):
        raise SourceError(place, ITSELF, "nothing is to be done")
    env = _texts(place, table, "env") | _texts(place, table, "environment") | _env_of_command(place, table)
    _check_resolved(place, redaction, table)
    return ImportedServer(
        name=redaction.server,
        command=redaction.plain(command),
        args=redaction.arguments(args),
        env=redaction.environment(env),
        cwd=_cwd(redaction.plain(_text(place, table, "cwd")), folder) if command else "",
        url=redaction.url(url),
        headers=redaction.headers(_headers(place, table)),
        variables=redaction.variables,
        values=redaction.values,
        originals=redaction.originals,
        at=tuple(at),
    )


URLS = ("url", "httpUrl", "serverUrl")


def is_itself(name: str, table: object) -> bool:
    """Whether an entry starts prowess, or is one that prowess wrote for an address; nobody is asked."""
    if not isinstance(table, dict):
        return False
    try:
        if runs_prowess(*_command("", table)):
            return True
    except SourceError:
        return False
    return any(is_address_of_prowess(name, table[key]) for key in URLS if isinstance(table.get(key), str))


def _cwd(cwd: str, folder: str) -> str:
    """The folder a server is started in, which prowess would otherwise choose by where it runs itself."""
    if not folder or cwd.startswith(("~", "$")):
        return cwd
    return str(Path(folder) / cwd)


def _check_resolved(place: str, redaction: Redaction, table: Table) -> None:
    left = sorted({name for text in texts(table) for name in redaction.placeholders.unresolved(text)})
    if left:
        what = f"uses {' and '.join(left)}, which only the client can resolve"
        if any("orkspace" in name or "cwd" in name or "PROJECT" in name for name in left):
            raise SourceError(place, what, "say which folder is meant: --workspace DIR")
        raise SourceError(place, what, "write the value there, or the name of a variable")


def _check_useful(place: str, table: Table, command: str, args: tuple[str, ...]) -> None:
    if table.get("disabled") is True or table.get("enabled") is False:
        raise SourceError(
            place, "is switched off there", "switch it on there and import again, if it is wanted"
        )
    if table.get("type") == "sse":
        raise SourceError(
            place, "speaks only the old SSE transport", "ask its provider for a streamable HTTP url"
        )
    if runs_prowess(command, args):
        raise SourceError(place, ITSELF, "nothing is to be done")


def _command(place: str, table: Table) -> tuple[str, tuple[str, ...]]:
    command, args = table.get("command", ""), table.get("args", [])
    if isinstance(command, dict):  # as Zed once wrote it
        command, args = command.get("path", ""), command.get("args", [])
    if isinstance(command, list) and command and not args:
        command, args = command[0], command[1:]
    if not isinstance(command, str) or not isinstance(args, list):
        raise SourceError(
            place, "its command or args have the wrong type", "write a text and a list of texts"
        )
    return command, tuple(_scalar(place, "args", arg) for arg in args)


def _env_of_command(place: str, table: Table) -> dict[str, str]:
    command = table.get("command")
    return _texts(place, command, "env") if isinstance(command, dict) else {}


def _headers(place: str, table: Table) -> dict[str, str]:
    """Headers as most programs keep them, and as Codex does: by name of the variable that holds the value."""
    headers = _texts(place, table, "headers") | _texts(place, table, "http_headers")
    for header, variable in _texts(place, table, "env_http_headers").items():
        headers[header] = f"${{{variable}}}"
    bearer = _text(place, table, "bearer_token_env_var")
    if bearer:
        headers["Authorization"] = f"Bearer ${{{bearer}}}"
    return headers


def _text(place: str, table: Table, key: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise SourceError(place, f"{key!r} is not a text", "correct it")
    return value


def _texts(place: str, table: Table, key: str) -> dict[str, str]:
    values = table.get(key) or {}
    if not isinstance(values, dict):
        raise SourceError(place, f"{key!r} is not a table of texts", "correct it")
    return {str(name): _scalar(place, key, value) for name, value in values.items()}


def _scalar(place: str, key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise SourceError(place, f"a value in {key!r} is not a text", "correct it")
    return str(value)
