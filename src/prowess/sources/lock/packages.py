"""Which package the command of a server starts, where the command names one."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

RUNNERS = {
    "npx": "npm", "bunx": "npm", "pnpx": "npm", "uvx": "pypi", "pipx": "pypi",
    "docker": "oci", "podman": "oci", "dnx": "nuget",
}  # fmt: skip
TAKES_PACKAGE = frozenset({"--package", "-p", "--from", "--spec"})
"""Options whose value is the package, whatever is started of it."""
WITH_VALUE = frozenset(
    {
        "--with", "--python", "--index", "--index-url", "--extra-index-url", "--directory", "--registry",
        "-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "-w", "--workdir",
        "-u", "--user", "--entrypoint", "--platform", "--add-host", "-m", "--memory", "--cpus",
        "--label", "-l",
    }
)  # fmt: skip
WORDS = frozenset({"run", "exec", "dlx", "container", "tool", "x"})
PYTHON_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?(?:(?:==|@)(?P<version>[\w.!+-]+))?")


def package_of(command: str, args: Sequence[str]) -> str:
    """The package as `npm:NAME@VERSION`, `pypi:NAME==VERSION` or `oci:IMAGE`; empty where none is named."""
    name = PurePath(command.replace("\\", "/")).name.lower()
    name = name.rpartition(".")[0] if name.endswith((".exe", ".cmd")) else name
    if name == "cmd" and args[:1] and args[0].lower() == "/c":
        return package_of(args[1], args[2:]) if len(args) > 1 else ""
    if name == "uv" and list(args[:2]) == ["tool", "run"]:
        name, args = "uvx", args[2:]
    if name in ("npm", "pnpm", "yarn", "bun") and args[:1] and args[0] in ("exec", "dlx", "x"):
        name, args = "npx", args[1:]
    if name not in RUNNERS:
        return ""
    package = next(_named(args), "")
    return f"{RUNNERS[name]}:{_python(package) if RUNNERS[name] == 'pypi' else package}" if package else ""


def _named(args: Sequence[str]) -> Iterator[str]:
    """What an option says is the package, then the first word that is no option."""
    for option, value in pairwise(args):
        if option in TAKES_PACKAGE and not value.startswith("-"):
            yield value
    for arg in args:
        option, sign, value = arg.partition("=")
        if sign and option in TAKES_PACKAGE:
            yield value
    before = ""
    for arg in args:
        if not arg.startswith("-") and before not in WITH_VALUE and arg not in WORDS:
            yield arg
        before = arg


def _python(text: str) -> str:
    found = PYTHON_PACKAGE.fullmatch(text)
    if found is None:
        return text
    return f"{found['name']}=={found['version']}" if found["version"] else found["name"]
