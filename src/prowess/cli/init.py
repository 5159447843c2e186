"""`prowess init`"""

import os
from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.session import say, writing
from prowess.policy.builtin_grants import owner_policy
from prowess.sources.configured import default_sources

POLICY = "policy.yaml"
POLICY_SECTION = f'\n[policy]\nfiles = ["{POLICY}"]\n'
HEAD = """\
# What prowess reads here. Every key is in docs/configuration.md; of two sources that define one
# capability, the first wins.
"""

COMMENTS = {
    "manifests": "CAPABILITY.yaml in folders of ~/.config/prowess/capabilities, .prowess/capabilities"
    " and $PROWESS_CAPABILITY_DIRS",
    "skills": "folders with a SKILL.md",
    "cards": "short texts, injected when they matter",
}


@click.command()
def command() -> None:
    """Write prowess.toml and a first policy.yaml for this folder, unless they are there."""
    here = Path.cwd()
    with writing():
        ignore_store(here)
        write(here / configuration.FILE, first_config(here))
        write(here / POLICY, owner_policy())
    if configuration.load(here / configuration.FILE, here, os.environ).config.policy.files:
        say("the agent `default` may use everything; narrow that in policy.yaml when others get in")
    else:
        said = f"{configuration.FILE} names no policy, so agents have only what comes with every profile"
        say(f"{said}; add to it:\n{POLICY_SECTION}")
    say("next: name what there is in prowess.toml, then: prowess sync")


def first_config(root: Path) -> str:
    """A configuration of what this folder already has."""
    text = HEAD
    for source in default_sources(root):
        place = f'path = "{source.path}"\n' if source.path else ""
        text += f"\n# {COMMENTS[source.type]}\n[[source]]\n"
        text += f'type = "{source.type}"\nname = "{source.name}"\n{place}'
    return text + POLICY_SECTION


def begun(root: Path) -> dict[Path, str]:
    """The files of a new project that are not there yet."""
    texts = {root / configuration.FILE: first_config(root), root / POLICY: owner_policy()}
    return {file: text for file, text in texts.items() if not file.exists()}


def write(file: Path, text: str) -> None:
    if file.exists():
        say(f"{file.name} is already here and stays as it is")
        return
    file.write_text(text, encoding="utf-8")
    say(f"wrote {file.name}")


def ignore_store(root: Path) -> None:
    """The store and what servers keep is this machine's own; keep it out of version control."""
    folder = root / ".prowess"
    folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("prowess.db*\nbundles/\nservers/\n", encoding="utf-8")
