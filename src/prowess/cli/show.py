"""`prowess show`"""

import click
import msgspec

from prowess.catalogue.catalogue import Version
from prowess.cli.list import as_data
from prowess.cli.session import connected, emit, json_option, printable
from prowess.operations.catalogue import list_versions, show_capability
from prowess.operations.operation import NO_PARAMS
from prowess.operations.values import CapabilityWhole


@click.command()
@click.argument("id")
@click.option("--history", is_flag=True, help="Every version it had, oldest first.")
@json_option
def command(id: str, history: bool, as_json: bool) -> None:
    """Show one capability: where it is from, whether it can be used, its schema and content."""
    with connected() as backend:
        if history:
            show_history(backend.call(list_versions, NO_PARAMS, id=id), as_json)
            return
        capability = backend.call(show_capability, NO_PARAMS, id=id)
    if as_json:
        emit({**as_data(capability), "detail": capability.detail})
    else:
        show(capability)


def show(capability: CapabilityWhole) -> None:
    detail = capability.detail
    click.secho(f"{printable(capability.display_name)}  {capability.id}", bold=True)
    click.echo(printable(capability.description))
    lines = {
        "kind": capability.kind,
        "category": capability.category,
        "tags": ", ".join(capability.tags),
        "provider": capability.provider,
        "source": str(capability.source_ref),
        "secrets": ", ".join(capability.required_secrets),
        "tools": ", ".join(capability.required_tools),
        "effects": "changes things" if capability.has_side_effects else "reads only",
        "available": "yes" if capability.available else "no: " + "; ".join(capability.unavailable),
        "version": capability.digest[:12],
    }
    for name, value in lines.items():
        if value:
            click.echo(f"  {name + ':':11}{printable(value)}")
    if detail.input_schema:
        click.echo(msgspec.json.format(msgspec.json.encode(detail.input_schema), indent=2))
    if detail.content:
        click.echo("\n".join(printable(line) for line in detail.content.splitlines()))


def show_history(versions: tuple[Version, ...], as_json: bool) -> None:
    if as_json:
        emit([version_data(version) for version in versions])
        return
    for version in versions:
        click.echo(f"{version.digest[:12]}  {version.seen_at}  {printable(version.capability.description)}")


def version_data(version: Version) -> dict[str, object]:
    return {
        "digest": version.digest,
        "since": version.since,
        "seen_at": version.seen_at,
        "capability": as_data(version.capability),
        "detail": version.detail,
    }
