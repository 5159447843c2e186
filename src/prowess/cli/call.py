"""`prowess call`"""

import json
from collections.abc import Sequence

import click

from prowess.cli.list import missing_secrets
from prowess.cli.session import connected, emit, json_option, printable, say
from prowess.operations import calls as ops
from prowess.operations.catalogue import show_capability
from prowess.operations.operation import NO_PARAMS
from prowess.types import DEFAULT_AGENT, JsonObject


@click.command()
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--arguments", "whole", default="", metavar="JSON", help="All arguments as one JSON object.")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@click.option("--offer", default="", help="The id of the offer from which NAME was chosen.")
@click.option("--key", default="", help="A name for this call: calls with the same key are made only once.")
@click.option("--field", "fields", multiple=True, help="Only this part of the result, such as items.title.")
@json_option
def command(
    name: str, arguments: Sequence[str], whole: str, agent: str, offer: str, key: str, fields: Sequence[str],
    as_json: bool,
) -> None:  # fmt: skip
    """Call NAME, with the same checks as everywhere: policy, arguments, approvals, limits.

    NAME is an id, the name of a tool, or what its server calls it where only one server has it; a value
    becomes what the schema asks for.

        prowess call send_mail to=ann@example.com subject="Lunch?"
    """
    asked = ops.CallAsked(
        name=name, arguments=_object(whole), texts=_pairs(arguments), offer=offer, key=key,
        fields=tuple(fields),
    )  # fmt: skip
    with connected() as backend:
        answer = backend.call(ops.make, asked, agent=agent)
    if as_json:
        emit(answer)
    else:
        _print(answer)
        if answer.ending == "unavailable":
            with connected() as backend:
                shown = backend.call(show_capability, NO_PARAMS, id=answer.capability)
                for line in missing_secrets(backend, (shown,)):
                    say(line)
    if answer.ending != "ok":
        click.get_current_context().exit(1)


def _print(answer: ops.CallAnswer) -> None:
    show = say if answer.ending != "ok" else click.echo
    for block in answer.content:
        text = block.get("text")
        lines = str(text).splitlines() if text is not None else [f"[{block.get('type')}]"]
        show("\n".join(map(printable, lines)))


def _object(text: str) -> JsonObject | None:
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError as failure:
        raise click.BadParameter(f"is not JSON: {failure}", param_hint="--arguments") from None
    if not isinstance(value, dict):
        raise click.BadParameter("is not a JSON object", param_hint="--arguments")
    return value


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="KEY=VALUE")
        pairs[name] = value
    return pairs
