"""Whether a server is prowess itself: a gateway behind a gateway would start the next, and so without end.

Above: the importers, which leave its own entry out; whoever starts or calls servers, and the gateway, which
refuses to be one of them. Below: text, and one request to an address on this machine.
"""

import json
import os
import re
import shlex
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

NAME = "prowess"
VARIABLE = "PROWESS_GATEWAY"
"""Set for every server that prowess starts."""
HEADER = "prowess-gateway"
"""Sent with every request that prowess sends to a server."""
LOOP_DETECTED = 508
CHAINED = "a gateway cannot stand behind another gateway"
REMEDY = "remove this source, and add the servers behind it instead"

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh")
SECONDS_TO_ANSWER = 2.0

_PACKAGE = re.compile(r"prowess(\[[\w,\s-]*\])?([=<>~!@ ].*)?$", re.IGNORECASE)
_CODE = re.compile(r"\b(?:import|from)\s+prowess\b")


def runs_prowess(command: str, args: Sequence[str]) -> bool:
    """Whether a command starts a server of prowess, however it is spelt."""
    words = list(_words([command, *args]))
    found = next((at for at, word in enumerate(words) if _is_prowess(word)), None)
    return found is not None and "serve" in words[found + 1 :]


def _words(line: Sequence[str]) -> Iterator[str]:
    """The words of a command line; of one that a shell reads, its words."""
    is_shell = any(PurePath(word.replace("\\", "/")).stem.lower() in SHELLS for word in line[:-1])
    for word in line:
        try:
            inner = shlex.split(word.replace("\\", "/")) if is_shell and " " in word else [word]
        except ValueError:
            inner = word.split()
        yield from inner


def _is_prowess(word: str) -> bool:
    path = PurePath(word.replace("\\", "/"))
    if _PACKAGE.match(path.stem if path.suffix in (".exe", ".py", ".cmd") else path.name) or _CODE.search(
        word
    ):
        return True
    if path.name == "__main__.py" and path.parent.name == NAME:
        return True
    # A link, or a name on the path that leads to one.
    real = os.path.realpath(os.path.expanduser(word) if os.sep in word else shutil.which(word) or word)
    return os.path.basename(real) == NAME and os.path.isfile(real)


def is_address_of_prowess(name: str, url: str) -> bool:
    """Whether an entry is one that prowess wrote for an address; nobody has to listen there now."""
    return name.startswith(NAME) and urlsplit(url).path == "/mcp"


def answers_as_prowess(url: str) -> bool:
    """Whether a gateway of prowess listens at an address of this machine; others are not asked."""
    if urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
        return False
    headers = {"content-type": "application/json", HEADER: "1"}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    try:
        request = urllib.request.Request(url, asked, headers)
        with urllib.request.urlopen(request, timeout=SECONDS_TO_ANSWER):
            return False
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == LOOP_DETECTED
    except (OSError, ValueError):
        return False
