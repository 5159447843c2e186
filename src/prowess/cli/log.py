"""`prowess log`"""

import time
from pathlib import Path

import click
import msgspec

from prowess.cli.session import emit, json_option, opened, printable, say, until_interrupted
from prowess.engine import Engine
from prowess.errors import ConfigError
from prowess.types import Head, JournalEntry

POLL_SECONDS = 0.2


@click.command()
@click.option("--agent", help="Only this agent's chain.")
@click.option("--type", "type_", default="*", help="Only entries of this type; * stands for anything.")
@click.option("--limit", default=50, show_default=True, help="How many, the newest.")
@click.option("--follow", is_flag=True, help="Go on, and print what happens.")
@click.option("--verify", is_flag=True, help="Walk every chain and say whether it is intact.")
@click.option("--heads", type=click.Path(), help="With --verify: heads exported earlier, to find a cut tail.")
@click.option("--export-heads", is_flag=True, help="Print the head of each chain as JSON, to keep elsewhere.")
@json_option
def command(
    agent: str | None, type_: str, limit: int, follow: bool, verify: bool, heads: str | None,
    export_heads: bool, as_json: bool,
) -> None:  # fmt: skip
    """What happened, oldest first; with --verify, whether the record is intact."""
    with opened(existing=True) as engine:
        if export_heads:
            emit(engine.journal.heads())
        elif verify:
            _verify(engine, heads, as_json)
        else:
            seen = engine.journal.heads()
            with until_interrupted():
                _print(engine.journal.latest(limit, agent, type_), as_json)
                if follow:
                    _follow(engine, seen, as_json)


def _verify(engine: Engine, heads: str | None, as_json: bool) -> None:
    verified = engine.journal.verify(_exported(heads) if heads else ())
    if as_json:
        emit({"intact": True, "heads": verified})
    else:
        say(f"intact: {sum(h.count for h in verified)} entries in {len(verified)} chains")


def _exported(file: str) -> list[Head]:
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=list[Head])
    except (OSError, msgspec.MsgspecError) as failure:
        remedy = "give a file written by: prowess log --export-heads"
        raise ConfigError(file, f"cannot be read as heads ({failure})", remedy) from None


def _follow(engine: Engine, seen: tuple[Head, ...], as_json: bool) -> None:
    while True:
        entries = engine.journal.after(seen)
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
