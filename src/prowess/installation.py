"""How this installation is told to install more of itself: from an index, or from where it came from.

Above: `errors`, which puts the command into a message.
"""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

NAME = "prowess"


def install_command(extra: str) -> str:
    """The command that installs an optional part, for a package as for a clone."""
    told = _told()
    url = urlsplit(told.get("url", ""))
    if url.scheme == "file":
        return f'pip install "{unquote(url.path)}[{extra}]"'
    if "vcs_info" in told:
        return f'pip install "{NAME}[{extra}] @ {told["vcs_info"]["vcs"]}+{told["url"]}"'
    return f'pip install "{NAME}[{extra}]"'


def _told() -> dict[str, Any]:
    """What the installer wrote down of where it took this from; nothing where it was an index."""
    # Only a message about a missing part pays for this import.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return dict(json.loads(distribution(NAME).read_text("direct_url.json") or "{}"))
    except PackageNotFoundError:
        return {}
