"""`prowess log`"""

import time
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from prowess.cli.archive import command as archive
from prowess.cli.session import connected, emit, json_option, printable, say, until_interrupted
from prowess.errors import ConfigError, ProwessError
from prowess.operations import journal as ops
from prowess.operations.backend import Backend
from prowess.operations.operation import NO_PARAMS
from prowess.text.counts import counted
from prowess.types import Head, JournalEntry, Offer

POLL_SECONDS = 0.2


@click.group(invoke_without_command=True)
@click.option("--agent", help="Only this agent's chain.")
@click.option("--type", "type_", default="*", help="Only entries of this type; * stands for anything.")
@click.option("--text", default="", help="Only entries with these words.")
@click.option("--since", default="", help="Only entries from this time on, such as 2026-11-19T08:00 (UTC).")
@click.option("--wrong", is_flag=True, help="Only what failed or was denied.")
@click.option("--limit", default=50, show_default=True, help="How many, the newest.")
@click.option("--follow", is_flag=True, help="Go on, and print what happens.")
@click.option("--verify", is_flag=True, help="Walk every chain and say whether it is intact.")
@click.option("--heads", type=click.Path(), help="With --verify: heads exported earlier, to find a cut tail.")
@click.option("--export-heads", is_flag=True, help="Print the head of each chain as JSON, to keep elsewhere.")
@json_option
@click.pass_context
def command(
    context: click.Context, agent: str | None, type_: str, text: str, since: str, wrong: bool, limit: int,
    follow: bool, verify: bool, heads: str | None, export_heads: bool, as_json: bool,
) -> None:  # fmt: skip
    """What happened, oldest first; with --verify, whether the record is intact."""
    if context.invoked_subcommand:
        return
    with connected() as backend:
        if export_heads:
            emit(backend.call(ops.list_heads, NO_PARAMS))
        elif verify:
            _verify(backend, heads, as_json)
        else:
            seen = backend.call(ops.list_heads, NO_PARAMS) if follow else ()
            asked = ops.Entries(agent=agent, type=type_, text=text, since=since, wrong=wrong)
            newest = tuple(backend.pages(ops.list_entries, asked, limit))
            with until_interrupted():
                _print(newest[::-1], as_json)
                if follow:
                    _follow(backend, seen, as_json)


command.add_command(archive, "archive")


@command.command()
@click.argument("id", metavar="OFFER")
@json_option
def show(id: str, as_json: bool) -> None:
    """One request, from question to result: what the model saw, what was left out and why, what came of it.

    OFFER is the id of an offer, or of a search through the gateway: prowess log --type offer
    """
    with connected() as backend:
        trace = backend.call(ops.trace, ops.Traced(id=id))
    if as_json:
        emit(trace)
        return
    if trace.offer:
        _show(trace.offer)
    else:
        say("what the model saw is not kept (any more); see keep_days under [journal] in prowess.toml")
    for digest, text in trace.payloads.items():
        click.secho(f"--- kept as {digest[:12]}", fg="cyan")
        click.echo("\n".join(printable(line) for line in text.splitlines()))
    click.secho("--- in the journal", fg="cyan")
    _print(trace.entries, as_json=False)


def _show(offer: Offer) -> None:
    click.secho("--- what the model saw", fg="cyan")
    click.echo("\n".join(printable(line) for line in offer.text.splitlines()))
    click.secho("--- tools", fg="cyan")
    for tool in offer.tools:
        click.echo(printable(msgspec.json.encode(tool).decode()))
    click.secho("--- why", fg="cyan")
    for hit in offer.hits:
        click.echo(printable(f"offered: {hit.id}, {hit.score:.2f} ({'; '.join(hit.reasons)})"))
    for id, reason in offer.left_out.nearest:
        click.echo(printable(f"left out: {id} ({reason})"))
    for reason, count in offer.left_out.counts.items():
        click.echo(printable(f"left out in all: {count} {reason}"))


def _verify(backend: Backend, heads: str | None, as_json: bool) -> None:
    found = backend.call(ops.verify, _known(_exported(heads) if heads else ()))
    if not found.intact:
        raise ProwessError(found.problem, found.remedy)
    if as_json:
        emit({"intact": True, "heads": found.heads})
    else:
        say(f"intact: {counted(found.entries, 'entry')} in {counted(len(found.heads), 'chain')}")


def _known(heads: Iterable[Head]) -> ops.KnownHeads:
    return ops.KnownHeads(heads=tuple(ops.ExportedHead(head.chain, head.count, head.hash) for head in heads))


def _exported(file: str) -> list[Head]:
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=list[Head])
    except (OSError, msgspec.MsgspecError) as failure:
        remedy = "give a file written by: prowess log --export-heads"
        raise ConfigError(file, f"cannot be read as heads ({failure})", remedy) from None


def _follow(backend: Backend, seen: tuple[Head, ...], as_json: bool) -> None:
    while True:
        entries = backend.call(ops.list_after, _known(seen))
        if entries:
            _print(entries, as_json)
            count = {h.chain: h for h in seen}
            count |= {e.chain: Head(e.chain, e.number, e.hash) for e in entries}
            seen = tuple(count.values())
        time.sleep(POLL_SECONDS)


def _print(entries: tuple[JournalEntry, ...], as_json: bool) -> None:
    for entry in entries:
        if as_json:
            click.echo(msgspec.json.encode(entry))
        else:
            data = printable(msgspec.json.encode(entry.data).decode())
            who = click.style(entry.chain or "-", fg="cyan")
            click.echo(f"{entry.at[:19]}  {who}  {click.style(entry.type, bold=True)}  {data}")
