"""`prowess lint`"""

import click

from prowess.cli.session import emit, json_option, opened, printable, say
from prowess.text.counts import counted


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Find capabilities that cannot be told apart and descriptions that say too little or too much."""
    with opened() as engine:
        findings = engine.catalogue.lint()
    if as_json:
        emit(findings)
        return
    for finding in findings:
        where = f"{' and '.join(finding.ids)}: " if finding.ids else ""
        click.echo(printable(f"{where}{finding.what}; {finding.remedy}"))
        for id, text in finding.proposals.items():
            click.echo(printable(f"  for {id}, say: {text}"))
    say(counted(len(findings), "finding") if findings else "no findings")
