"""What was told at the last start, for the first answer of the next one: that cannot wait for a catalogue.

Above: `first_answers`, which reads it, and the gateway over pipes, which writes it. Below: one file for each
configuration and agent, readable by its owner alone. It holds while prowess.toml and the policy files say
what they said; it names servers, and nothing is allowed by it.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

FOLDER = "prowess/introductions"


def kept(config: Path | None, agent: str, environment: Mapping[str, str]) -> str:
    """What is to be told now, or nothing where that is not known.

    config: the prowess.toml in use.
    agent: who the client is.
    environment: of this process, which may name another place for state.
    """
    if config is None:
        return ""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(_file(config, agent, environment).read_text())
        if found["files"] == _digests(map(Path, found["files"])):
            return str(found["told"])
    return ""


def keep(
    config: Path, policies: Iterable[Path], agent: str, environment: Mapping[str, str], told: str
) -> None:
    """Write down what is told, with what it depends on."""
    file = _file(config, agent, environment)
    whole = json.dumps({"files": _digests([config.resolve(), *policies]), "told": told})
    with suppress(OSError):  # the next first answer names no servers, which costs nobody anything
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(whole)
        new.replace(file)


def _file(config: Path, agent: str, environment: Mapping[str, str]) -> Path:
    chosen = environment.get("XDG_STATE_HOME", "")
    home = Path(environment.get("HOME") or Path.home())
    state = Path(chosen) if os.path.isabs(chosen) else home / ".local" / "state"
    name = hashlib.sha256(f"{config.resolve()}\0{agent}".encode(errors="surrogatepass")).hexdigest()[:24]
    return state / FOLDER / f"{name}.json"


def _digests(files: Iterable[Path]) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
