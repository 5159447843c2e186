"""Servers are added to prowess.toml, reworded, taken out and started anew; a change can be taken back."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from prowess.engine.project_file import ConfigurationProposal, ProjectFile
from prowess.engine.server_reports import server_reports
from prowess.errors import ConfigError, NotFound, Outdated, SourceError
from prowess.operations.operation import Call, Name, NoParams, RequestParams, Text, operation
from prowess.operations.servers import unknown
from prowess.sources.config_edits import reworded, without_source
from prowess.sources.imports.addition import Addition, add_sources
from prowess.sources.imports.importers import Imported, read_text
from prowess.types import SyncReport

Word = Annotated[str, msgspec.Meta(max_length=2_000)]
Digest = Annotated[str, msgspec.Meta(max_length=100)]
PASTED = "pasted.json"
"""What a configuration is called that comes as a text; the name says that it is JSON."""


class ProposeServers(RequestParams, frozen=True, kw_only=True):
    """One server by its parts, or any number as the configuration of another client."""

    text: Text = ""
    """Such as {"mcpServers": {...}}, or a server.json of the MCP registry."""
    name: Word = ""
    command: Word = ""
    args: tuple[Word, ...] = ()
    url: Word = ""
    env: Mapping[str, Word] = {}
    """Variable -> value; what may be a secret becomes a reference to the variable."""
    headers: Mapping[str, Word] = {}


class ConfirmServers(ProposeServers, frozen=True, kw_only=True):
    digest: Digest
    """That of the proposal that was looked at."""


class ConfirmFileChange(RequestParams, frozen=True, kw_only=True):
    digest: Digest
    """That of the proposal that was looked at."""


class ToolWording(RequestParams, frozen=True, kw_only=True):
    tool: Name
    """The name that its author gave it."""
    name: Word = ""
    """Another name; empty for its author's."""
    description: Annotated[str, msgspec.Meta(max_length=20_000)] = ""


class FileChangeShown(msgspec.Struct, frozen=True, kw_only=True):
    """A change of prowess.toml, and what a person has to know of it."""

    file: str
    digest: str
    does: str
    lines: tuple[str, ...]
    """The difference of the text, as a pull request shows it."""
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Servers that were there before."""
    secrets: Mapping[str, str] = {}
    """Variable to set -> where it stood."""
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class FileChangeMade(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: str
    by: str
    does: str
    undone: bool


@operation("servers.propose", "POST /servers/proposal", role="admin", reads=True,
           errors=(ConfigError, SourceError))  # fmt: skip
def propose_servers(call: Call[ProposeServers]) -> FileChangeShown:
    """What adding servers would write into prowess.toml; nothing is written."""
    return _added(_project(call), call.params)[1]


@operation("servers.add", "POST /servers", role="admin", status=201, signed=True,
           errors=(ConfigError, SourceError, Outdated))  # fmt: skip
def add_servers(call: Call[ConfirmServers]) -> FileChangeShown:
    """Add servers to prowess.toml that somebody has looked at; a sync then reads them."""
    project = _project(call)
    proposal, shown = _added(project, call.params)
    return _made(project, proposal, shown, call.params.digest, call.by)


@operation("servers.reword", "PUT /servers/{name}/wording", role="admin", signed=True,
           errors=(ConfigError, NotFound, Outdated))  # fmt: skip
def reword_tool(call: Call[ToolWording]) -> FileChangeShown:
    """Give a tool of a server another name or other words, or its author's own again."""
    project, said, name = _project(call), call.params, call.path["name"]
    after = reworded(project.text(), name, said.tool, said.name.strip(), said.description.strip())
    proposal = project.propose(after, f"words {said.tool} of {name}")
    project.change(proposal, call.by)
    return _shown(proposal)


@operation("servers.propose_removal", "GET /servers/{name}/removal", role="admin",
           errors=(ConfigError, NotFound))  # fmt: skip
def propose_removal(call: Call[NoParams]) -> FileChangeShown:
    """What taking a server out of prowess.toml would write; nothing is written."""
    return _shown(_removal(call))


@operation("servers.remove", "POST /servers/{name}/removal", role="admin", signed=True,
           errors=(ConfigError, NotFound, Outdated))  # fmt: skip
def remove_server(call: Call[ConfirmFileChange]) -> FileChangeShown:
    """Take a server out of prowess.toml."""
    proposal = _removal(call)
    return _made(_project(call), proposal, _shown(proposal), call.params.digest, call.by)


@operation("servers.propose_undo", "GET /servers/undo", role="admin", errors=(ConfigError, NotFound))
def propose_undo_of_servers(call: Call[NoParams]) -> FileChangeShown:
    """What taking back the latest change of prowess.toml would write; nothing is written."""
    return _shown(_project(call).propose_undo())


@operation("servers.undo", "POST /servers/undo", role="admin", signed=True,
           errors=(ConfigError, NotFound, Outdated))  # fmt: skip
def undo_server_change(call: Call[ConfirmFileChange]) -> FileChangeShown:
    """Take back the latest change of prowess.toml."""
    project = _project(call)
    proposal = project.propose_undo()
    return _made(project, proposal, _shown(proposal), call.params.digest, call.by)


@operation("servers.changes", "GET /servers/changes")
def list_file_changes(call: Call[NoParams]) -> tuple[FileChangeMade, ...]:
    """What was changed in prowess.toml over a face, the newest first."""
    project = call.engine.internals.project
    found = project.changes() if project else ()
    undone = {entry.undoes for _, entry in found}
    return tuple(
        FileChangeMade(id=one.id, at=at, by=one.by, does=one.does, undone=one.id in undone)
        for at, one in found
    )


@operation("servers.restart", "POST /servers/{name}/restart", role="operator", slow=True, errors=(NotFound,))
def restart_server(call: Call[NoParams]) -> SyncReport:
    """End a server's process or connection, start it anew, and read what it offers."""
    inner, name = call.engine.internals, call.path["name"]
    report = next((one for one in server_reports(inner, 0) if one.name == name), None)
    if report is None or not report.readable:
        raise unknown(call.engine, name)
    if kept := inner.kept_servers:
        kept.restart(report.source)
    return call.engine.sync(report.source, progress=call.progress)


def _project(call: Call[Any]) -> ProjectFile:
    project = call.engine.internals.project
    if project is None:
        what = "is not changed from here"
        raise ConfigError("prowess.toml", what, "edit the file; see: change_servers in [web]")
    return project


def _added(project: ProjectFile, said: ProposeServers) -> tuple[ConfigurationProposal, FileChangeShown]:
    imported = read_text(PASTED, said.text.strip() or _as_json(said))
    addition = add_sources(project.text(), imported.servers, project.file.name)
    if not addition.added:
        stays = [error.what for error in imported.skipped]
        what = "; ".join(stays) or f"{', '.join(addition.known)}: is in {project.file.name} already"
        raise ConfigError("servers", what, "name another one")
    proposal = project.propose(addition.text, f"adds {', '.join(addition.added)}")
    return proposal, _told(proposal, addition, imported)


def _as_json(said: ProposeServers) -> str:
    if not said.name.strip():
        raise ConfigError("servers", "a server needs a name", "give it one, such as crm")
    parts = {
        "command": said.command, "args": list(said.args), "url": said.url, "env": dict(said.env),
        "headers": dict(said.headers),
    }  # fmt: skip
    return json.dumps({"mcpServers": {said.name.strip(): {key: one for key, one in parts.items() if one}}})


def _told(proposal: ConfigurationProposal, addition: Addition, imported: Imported) -> FileChangeShown:
    added = [server for server in imported.servers if server.name not in addition.known]
    return msgspec.structs.replace(
        _shown(proposal),
        added=addition.added,
        known=addition.known,
        secrets={name: place for server in added for name, place in server.variables.items()},
        notes=imported.notes,
        skipped=tuple(str(error) for error in imported.skipped),
    )


def _removal(call: Call[Any]) -> ConfigurationProposal:
    project, name = _project(call), call.path["name"]
    return project.propose(without_source(project.text(), name), f"takes {name} out")


def _made(
    project: ProjectFile, proposal: ConfigurationProposal, shown: FileChangeShown, digest: str, by: str
) -> FileChangeShown:
    if digest != proposal.digest:
        raise Outdated(proposal.file.name)
    project.change(proposal, by)
    return shown


def _shown(proposal: ConfigurationProposal) -> FileChangeShown:
    return FileChangeShown(
        file=proposal.file.name, digest=proposal.digest, does=proposal.does, lines=proposal.lines
    )
