"""What other programs write for a value that is known later, as prowess writes it or as what it stands for.

Above: `redaction`, and the reader of one server. Editors know the folder that is open, a person's home and
questions to the person; all of them know variables of the environment.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER_NAMES = frozenset(
    {"workspaceFolder", "workspaceRoot", "workspaceFolderBasename", "cwd", "CLAUDE_PROJECT_DIR"}
)
_SEPARATORS = frozenset({"pathSeparator", "/"})

_FOREIGN = re.compile(
    r"\$\{env:(?P<env>\w+)\}|\$\{input:(?P<input>[^}]+)\}|\$\{(?P<separator>/)\}"
    r"|\$\{(?P<name>\w+)(?::?-[^}]*)?\}|\{env:(?P<braced>\w+)\}|\$(?P<bare>[A-Z_][A-Z0-9_]*)\Z"
)
_UNKNOWN = re.compile(r"\$\{(?!env:|input:)\w+:[^-}][^}]*\}|\{file:[^}]*\}")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """`folder` is the one that the editor has open; empty where that is not known."""

    folder: str = ""

    def translated(self, text: str) -> tuple[str, dict[str, str]]:
        """The text as prowess writes it, and each variable in it with the other program's reference to it.

        Defaults are left out of the text, since they may be secrets themselves.
        """
        found: dict[str, str] = {}

        def own(match: re.Match[str]) -> str:
            if match["bare"] and match[0] != text:
                return match[0]
            known = self._known(match["name"] or match["separator"] or "")
            if known is not None:
                return known
            name = match["env"] or match["name"] or match["braced"] or match["bare"]
            name = name or variable_name(match["input"])
            found[name] = match[0]
            return f"${{{name}}}"

        return _FOREIGN.sub(own, text), found

    def unresolved(self, text: str) -> Iterator[str]:
        """What in a text only the other program can resolve."""
        for match in _FOREIGN.finditer(text):
            if match["name"] in FOLDER_NAMES and not self.folder:
                yield match[0]
        yield from (match[0] for match in _UNKNOWN.finditer(text))

    def _known(self, name: str) -> str | None:
        if name in ("userHome", "HOME"):
            return "${HOME}"
        if name in _SEPARATORS:
            return os.sep
        if name not in FOLDER_NAMES or not self.folder:
            return None
        return Path(self.folder).name if name == "workspaceFolderBasename" else self.folder


def names_the_folder(text: str) -> bool:
    """Whether a text means something else in every folder that an editor may have open."""
    return any(match["name"] in FOLDER_NAMES for match in _FOREIGN.finditer(text))


def variable_name(name: str) -> str:
    """A name that the environment takes: `api-key` is API_KEY."""
    made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper() or "VALUE"
    return f"_{made}" if made[0].isdigit() else made
