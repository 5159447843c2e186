"""What a started server may reach: its variables, its home, its limits, and a sandbox where one is wanted.

Above: `upstream`, which starts servers. Below: the operating system. A server gets the variables named here
and those of its `env`, never the whole environment. What is wanted and cannot be had is refused, in words,
before anything is started.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Literal, NamedTuple

from prowess.errors import SourceError

INHERITED = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
    # Windows, where hardly anything starts without them.
    "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
    "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
    # Which certificates this network has: without them nothing is downloaded or called.
    "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)  # fmt: skip
"""The variables of this process that every server gets. Everything else is in its `env`, or not there."""
PROXIES = (
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Those too, unless somebody's name and password stand in them."""
BUBBLEWRAP = "bwrap"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
CONFIGURATION = (
    "/etc/alternatives", "/etc/ca-certificates", "/etc/group", "/etc/hosts", "/etc/ld.so.cache",
    "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/pki", "/etc/resolv.conf", "/etc/ssl",
    "/run/systemd/resolve",
)  # fmt: skip
"""What programs need of /etc to find names, hosts and certificates."""
LIMITER = str(Path(__file__).with_name("limiter.py"))
ROOT = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server may use up at most; 0 is no limit."""

    processes: int = 0
    """Processes and threads of all its programs together, as the system counts them for a user."""
    memory_mb: int = 0
    """Of each of its processes."""
    files: int = 0
    """Open files and connections of each of its processes."""

    def __bool__(self) -> bool:
        return bool(self.processes or self.memory_mb or self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What a server may reach."""

    sandbox: Literal["none", "bubblewrap"] = "none"
    home: str = ""
    """A folder that is its home and, unless it has another, its working folder; empty: the user's own."""
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    network: bool = True
    hidden: tuple[str, ...] = ()
    """Folders that are empty for it whatever else it may read: where secrets and logins are."""
    limits: Limits = field(default_factory=Limits)

    @property
    def is_sandboxed(self) -> bool:
        return self.sandbox != "none"

    def reach(self, variables: tuple[str, ...]) -> str:
        """What the server may reach, for a person."""
        said = list(self._places())
        said.append("the network" if self.network or not self.is_sandboxed else "no network")
        if variables:
            said.append(f"variables {', '.join(variables)}")
        parts = {"processes": self.limits.processes, "MB": self.limits.memory_mb, "files": self.limits.files}
        limits = [f"{value} {name}" for name, value in parts.items() if value]
        return "; ".join([*said, *([f"at most {', '.join(limits)}"] if limits else [])])

    def _places(self) -> Iterator[str]:
        if not self.is_sandboxed:
            yield "your files"
            if self.home:
                yield "a home of its own"
            return
        yield "sandbox: a home of its own"
        if self.read:
            yield f"reads {', '.join(self.read)}"
        if self.write:
            yield f"writes {', '.join(self.write)}"


class Start(NamedTuple):
    """How a program is started."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str | None


def inherited(process: Mapping[str, str]) -> dict[str, str]:
    """What every server gets of the variables of this process."""
    found = {name: value for name in INHERITED if (value := process.get(name))}
    return found | {name: value for name in PROXIES if (value := process.get(name)) and "@" not in value}


def start_of(
    command: tuple[str, ...], env: Mapping[str, str], cwd: str, isolation: Isolation, place: str
) -> Start:
    """The command with everything around it that isolation wants; raises `SourceError` where it cannot be.

    command: the program and its arguments.
    env: the variables that are its own.
    cwd: its working folder; empty: the one of this process, or its own home.
    place: what the server is called in an error.
    """
    environment = inherited(os.environ) | dict(env)
    cwd = os.path.expanduser(cwd)
    if isolation.home:
        _make_home(isolation.home, place)
        environment["HOME"] = env.get("HOME") or isolation.home
        cwd = cwd or isolation.home
    limiter = _limiter(isolation.limits, place) if isolation.limits else ()
    if not isolation.is_sandboxed:
        return Start((*limiter, *command), environment, cwd or None)
    environment["TMPDIR"] = "/tmp"
    sandbox = _sandbox(isolation, command[0], cwd, environment, place)
    return Start((*sandbox, *limiter, *command), environment, None)


def _make_home(home: str, place: str) -> None:
    try:
        Path(home).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as failure:
        what = f"its home {home} cannot be made: {failure.strerror}"
        raise SourceError(place, what, "make it, or correct `home`") from None


def _limiter(limits: Limits, place: str) -> tuple[str, ...]:
    """A few lines of Python that set the limits and then become the server."""
    if not sys.platform.startswith("linux"):
        raise SourceError(place, "limits are kept on Linux alone", "leave [source.limits] out here")
    if limits.processes and os.geteuid() == ROOT:
        what = "the system keeps no limit of processes for root, as whom prowess runs"
        raise SourceError(place, what, "run prowess as another user, or leave `processes` out")
    numbers = (limits.processes, limits.memory_mb, limits.files)
    return (sys.executable, "-I", "-S", LIMITER, *map(str, numbers))


def _sandbox(
    isolation: Isolation, program: str, cwd: str, environment: Mapping[str, str], place: str
) -> tuple[str, ...]:
    bwrap = which(BUBBLEWRAP)
    if bwrap is None:
        what = "it is to run in a sandbox, and there is no bubblewrap here"
        raise SourceError(place, what, f'install bubblewrap, or write sandbox = "none" for {place}')
    reading = [os.path.abspath(os.path.expanduser(path)) for path in isolation.read]
    writing = [os.path.abspath(os.path.expanduser(path)) for path in (*isolation.write, isolation.home)]
    own = [LIMITER, *_python()] if isolation.limits else []
    found = which(os.path.expanduser(program), path=environment.get("PATH"))
    needed = [cwd, *((found, os.path.realpath(found)) if found else ())]
    _refuse_unreachable(needed, [*SYSTEM, *reading, *writing, *own], place)
    options = ["--die-with-parent", "--unshare-all", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    options += ["--share-net"] if isolation.network else []
    for path in (*SYSTEM, *CONFIGURATION):
        options += _system(path)
    for path in (*own, *reading):
        options += ["--ro-bind", path, path]
    for path in writing:
        options += ["--bind", path, path]
    # After everything else, so that no folder that was opened shows what is kept from every server.
    for path in isolation.hidden:
        if any(Path(path).is_relative_to(one) for one in (*reading, *writing)) and Path(path).is_dir():
            options += ["--tmpfs", path]
    return (bwrap, *options, "--chdir", cwd or "/", "--")


def _system(path: str) -> list[str]:
    if os.path.islink(path) and path in SYSTEM:
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]


def _python() -> tuple[str, ...]:
    """What the limiter runs on: an interpreter may lie outside of the system's folders."""
    folders = {os.path.dirname(os.path.realpath(sys.executable)), sys.prefix, sys.base_prefix}
    return tuple(sorted(folder for folder in folders if not folder.startswith(SYSTEM)))


def _refuse_unreachable(needed: Sequence[str], open_to_it: Sequence[str], place: str) -> None:
    """What lies outside would be "not found" in the sandbox, which helps nobody."""
    for path in filter(None, needed):
        if not any(Path(path).is_relative_to(one) for one in open_to_it):
            above = Path(path).parent
            folder = above.parent if (above.parent / "pyvenv.cfg").exists() else above
            what = f"it needs {path}, which lies outside of what its sandbox may read"
            raise SourceError(place, what, f"add to `read`: {folder if os.path.isfile(path) else path}")
