"""How this installation is told to install more of itself: from an index, or from the folder it came from.

Below `errors`, which puts the command into a message. Nothing else is here.
"""

import json
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

NAME = "prowess"


def install_command(extra: str) -> str:
    """The command that installs an optional part, for a package as for a clone."""
    return f'pip install "{_origin()}[{extra}]"'


def _origin() -> str:
    """The name, or the folder from which it was installed: what nobody published cannot be had by name."""
    try:
        told = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return NAME
    url = urlsplit(json.loads(told or "{}").get("url", ""))
    return unquote(url.path) if url.scheme == "file" else NAME
