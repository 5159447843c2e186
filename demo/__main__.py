"""`make demo`: the main job, end to end, on the sample catalogue beside this file."""

import tempfile
from collections import Counter
from pathlib import Path

import click

import prowess
from prowess.engine import Engine
from prowess.evolution.scores import Scores

HERE = Path(__file__).parent
REQUESTS = (
    "Search the web for AI news and summarize it",
    "list my open GitHub issues",
    "is this getting expensive? how many tokens are left in the budget?",
    "thanks, that's all",
)
SAFE = Scores(cognitive=0.7, behavioral=0.7, safety=1.0, autonomy=3, meta_learning=0.5)
UNSAFE = Scores(cognitive=0.7, behavioral=0.7, safety=0.3, autonomy=3, meta_learning=0.5)


def title(text: str) -> None:
    click.secho(f"\n{text}", fg="cyan", bold=True)


def what_exists(engine: Engine) -> None:
    title("What exists")
    report = engine.sync()
    kinds = Counter(c.kind for c in engine.catalogue.list())
    click.echo(
        f"{report.total} capabilities: " + ", ".join(f"{n} {kind}s" for kind, n in kinds.most_common())
    )
    for capability in engine.catalogue.list():
        if not capability.available:
            click.echo(f"  {capability.id}: {click.style(capability.unavailable[0], fg='yellow')}")


def what_is_allowed(engine: Engine) -> None:
    title("What an agent may use")
    for agent in ("default", "ada"):
        click.echo(f"  {agent}: {len(engine.catalogue.list(agent))} of {len(engine.catalogue.list())}")
    for line in engine.explain("ada", "tool:send_email"):
        click.echo(f"  {click.style(line, fg='bright_black')}")


def what_is_offered(engine: Engine) -> None:
    title("What is offered for a request")
    everything = engine.catalogue.cost_of_everything()
    for request in REQUESTS:
        offer = engine.offer(request)
        click.secho(f"  {request!r}", bold=True)
        for hit in offer.hits:
            score = click.style(f"{hit.score:.2f}", fg="green")
            click.echo(f"    {score}  {hit.id:24} {'; '.join(hit.reasons)}")
        for card in offer.cards:
            click.echo(f"    {click.style('card', fg='blue')}  {card}")
        saved = 1 - offer.tokens.total / everything
        cost = f"{offer.tokens.total} tokens instead of {everything}: {saved:.0%} saved"
        click.secho(f"    {cost} ({offer.tokens.counter})", fg="magenta")


def what_changed(engine: Engine) -> None:
    title("What changed, and was it good")
    engine.providers.deactivate("vision", "default", "not needed yet")
    engine.evolution.evaluate("default", SAFE)
    engine.providers.activate("vision", "default")
    after = engine.evolution.evaluate("default", UNSAFE)
    for event in after.events:
        click.echo(f"  {event.type}: {', '.join(str(value) for value in event.data.values())}")
    sees = "tool:describe-image" in {c.id for c in engine.catalogue.list("default")}
    click.echo(f"  vision is {'still there' if sees else 'switched off again for default'}")


def what_happened(engine: Engine) -> None:
    title("What happened")
    heads = engine.journal.verify()
    click.echo(f"  {sum(head.count for head in heads)} journal entries in {len(heads)} chains, intact")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "prowess.db")
        with prowess.open(store, config=str(HERE / "prowess.toml")) as engine:
            what_exists(engine)
            what_is_allowed(engine)
            what_is_offered(engine)
            what_changed(engine)
            what_happened(engine)
    click.echo()


if __name__ == "__main__":
    main()
