"""Resources and prompts: skills and cards as ours, and what servers offer, under their names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from mcp_types import Prompt, PromptArgument, Resource, ResourceTemplate

from prowess.calling.resource_lookup import has_own_uri, resource_at
from prowess.calling.skill_files import file_of_skill, files_of, mime_type_of
from prowess.calling.wording import TEXT_KINDS, clean
from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.gateway.definition import shown_with
from prowess.gateway.descriptions import is_rejected
from prowess.types import Capability

OWN = "prowess://"
MARKDOWN = "text/markdown"
PAGE = 500

Thing = TypeVar("Thing")


def page(things: Sequence[Thing], cursor: str | None) -> tuple[list[Thing], str | None]:
    """One page, and where the next begins."""
    start = int(cursor) if cursor and cursor.isdigit() else 0
    end = start + PAGE
    return list(things[start:end]), str(end) if end < len(things) else None


# --- resources ---------------------------------------------------------------------------------


def own_uri(capability: Capability) -> str:
    return f"{OWN}{capability.kind}/{quote(capability.id.partition(':')[2])}"


def resources(engine: Engine, visible: View) -> list[Resource]:
    return [
        Resource(
            uri=uri,
            name=_named(capability),
            title=clean(capability.display_name),
            description=clean(capability.description),
            mime_type=MARKDOWN if capability.kind in TEXT_KINDS else capability.metadata.get("mime_type"),
            **shown_with(capability),
        )
        for uri, capability in _by_uri(engine.catalogue.view(), visible).items()
        if not is_rejected(engine, capability)
    ] + _files(visible)


def _files(visible: View) -> list[Resource]:
    """What lies beside skills."""
    return [
        Resource(
            uri=f"{own_uri(skill)}/{quote(path)}",
            name=f"{_named(skill)}/{path}",
            description=clean(f"A file of the skill {skill.name}."),
            mime_type=mime_type_of(path),
            size=file["bytes"],
        )
        for skill in visible.of_kinds("skill")
        for path, file in files_of(skill).items()
    ]


def skill_file_at(visible: View, uri: str) -> tuple[Capability, str] | None:
    """The skill and the path that a URI of ours means to somebody who sees this."""
    kind, _, name = uri.removeprefix(OWN).partition("/")
    return file_of_skill(f"{kind}:{unquote(name)}", visible) if uri.startswith(OWN) else None


def templates(visible: View) -> list[ResourceTemplate]:
    return [
        ResourceTemplate(
            uri_template=str(capability.metadata["uri_template"]),
            name=_named(capability),
            title=clean(capability.display_name),
            description=clean(capability.description),
            mime_type=capability.metadata.get("mime_type"),
            **shown_with(capability),
        )
        for capability in _templated(visible)
    ]


def resource_named(view: View, visible: View, uri: str) -> Capability | None:
    """What a URI means to somebody who sees this: one of our own names, or one of a server's."""
    if not uri.startswith(OWN):
        return resource_at(view, visible, uri)
    kind, _, name = uri.removeprefix(OWN).partition("/")
    found = visible.capabilities.get(f"{kind}:{unquote(name)}")
    is_listed = found and (
        found.kind in TEXT_KINDS or (found.kind == "resource" and found.metadata.get("uri"))
    )
    return found if found and is_listed and own_uri(found) == uri else None


def _by_uri(view: View, visible: View) -> Mapping[str, Capability]:
    """A URI is the server's that offered it first; the others' resources are named after their providers."""
    found: dict[str, Capability] = {}
    for capability in visible.of_kinds(*TEXT_KINDS, "resource"):
        if capability.kind in TEXT_KINDS:
            found[own_uri(capability)] = capability
        elif capability.kind == "resource" and capability.metadata.get("uri"):
            uri = str(capability.metadata["uri"])
            ours = uri.startswith(OWN) or uri in found or not has_own_uri(view, capability)
            found[own_uri(capability) if ours else uri] = capability
    return found


def _templated(visible: View) -> Iterator[Capability]:
    for capability in visible.of_kinds("resource"):
        if capability.metadata.get("uri_template"):
            yield capability


# --- prompts -----------------------------------------------------------------------------------


def prompts(engine: Engine, visible: View) -> list[Prompt]:
    return [
        Prompt(
            name=name,
            title=clean(capability.display_name),
            description=clean(capability.description),
            arguments=_arguments(engine, capability),
            **shown_with(capability),
        )
        for name, capability in prompt_names(visible).items()
        if not is_rejected(engine, capability)
    ]


def prompt_names(visible: View) -> Mapping[str, Capability]:
    found: dict[str, Capability] = {}
    for capability in visible.of_kinds("prompt", *TEXT_KINDS):
        name = _named(capability)
        found[name if name not in found else capability.id] = capability
    return {name: found[name] for name in sorted(found)}


def prompt_named(visible: View, name: str) -> Capability | None:
    """The prompt of this name in our list, or the only one that its server calls so."""
    found = prompt_names(visible)
    own = [capability for capability in found.values() if capability.name == name]
    return found.get(name) or (own[0] if len(own) == 1 else None)


def _arguments(engine: Engine, capability: Capability) -> list[PromptArgument]:
    if capability.kind in TEXT_KINDS:
        return []
    schema: Mapping[str, Any] = engine.catalogue.detail(capability.id).input_schema or {}
    required = schema.get("required") or []
    return [
        PromptArgument(
            name=name, description=clean(about.get("description") or ""), required=name in required
        )
        for name, about in (schema.get("properties") or {}).items()
    ]


def _named(capability: Capability) -> str:
    holder = capability.kind if capability.kind in TEXT_KINDS else capability.provider
    return f"{holder}/{capability.name}"
