"""`prowess offer`"""

import click

from prowess.cli.session import connected, emit, json_option, printable, say
from prowess.operations import turns as ops
from prowess.operations.operation import NO_PARAMS
from prowess.types import DEFAULT_AGENT


@click.command()
@click.argument("request")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@click.option("--budget", type=int, help="The most tokens the whole offer may cost.")
@click.option("--left-out", is_flag=True, help="Also what was left out, and why.")
@json_option
def command(request: str, agent: str, budget: int | None, left_out: bool, as_json: bool) -> None:
    """What a model would see for REQUEST: the prompt text, the tools, and what they cost."""
    asked = ops.OfferAsked(messages=(ops.MessageText("user", request),), budget=budget)
    with connected() as backend:
        offer = backend.call(ops.offer, asked, agent=agent)
        everything = backend.call(ops.cost, NO_PARAMS, agent=agent).tokens
    tokens = offer.tokens
    if as_json:
        emit({**{name: getattr(offer, name) for name in offer.__dataclass_fields__},
              "total_tokens": tokens.total, "catalogue_tokens": everything})  # fmt: skip
        return
    click.echo("\n".join(printable(line) for line in offer.text.splitlines()))
    names = ", ".join(str(tool["name"]) for tool in offer.tools)
    say(f"tools: {names}")
    say(
        f"tokens ({tokens.counter}): {tokens.total} = tier 0 {tokens.tier0} + tier 1 {tokens.tier1}"
        f" + tier 2 {tokens.tier2} + cards {tokens.cards} + tools {tokens.tools}; everything: {everything}"
    )
    if left_out:
        for id, reason in offer.left_out.nearest:
            say(f"left out: {id} ({reason})")
