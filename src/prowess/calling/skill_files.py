"""The files that lie beside a skill: references, scripts and assets, read by their path below it.

Above: the finder, which takes `skill:NAME/PATH` for one; the routes; the resources of the gateway. Below: the
disk. What can be read is what the sync found, with exactly the content it had then: a file that was put there
or changed since is read after the next sync, and past the quarantine where its source is not fully trusted.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_type
from typing import Any

from prowess.calling.results import Answer, said
from prowess.catalogue.view import View
from prowess.errors import SourceError
from prowess.guard.clean import clean_detail
from prowess.guard.parsed_text import without_quoted_orders
from prowess.sources.files.reading import read_bytes
from prowess.types import Capability, Detail

FILE = "file"
"""The argument that names one of them."""
FILES = "files"
"""Where the metadata of a skill has them."""
MAX_FILES_NAMED = 40
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
BINARY = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file as it is shown: its text, or its bytes where it is none."""

    id: str
    mime_type: str
    text: str | None
    content: bytes = b""

    @property
    def answer(self) -> Answer:
        """As the result of a call."""
        if self.text is not None:
            return said(self.text)
        data = base64.b64encode(self.content).decode()
        if self.mime_type in PICTURES:
            block = {"type": "image", "data": data, "mimeType": self.mime_type}
            return {"content": [block], "isError": False}
        what = f"is no text: {self.mime_type}, {len(self.content)} bytes"
        raise SourceError(self.id, what, "use it where the skill lies, or read it as a resource")

    def resource(self, uri: str) -> dict[str, Any]:
        """As the contents of a resource."""
        if self.text is not None:
            return {"uri": uri, "mimeType": self.mime_type, "text": self.text}
        return {"uri": uri, "mimeType": self.mime_type, "blob": base64.b64encode(self.content).decode()}


def file_of_skill(name: str, visible: View) -> tuple[Capability, str] | None:
    """The skill and the path that `skill:NAME/PATH` means to somebody who sees this."""
    id, slash, path = name.partition("/")
    found = visible.capabilities.get(id)
    return (found, path) if slash and found and found.kind == "skill" and FILES in found.metadata else None


def files_of(capability: Capability) -> Mapping[str, Mapping[str, Any]]:
    """Path -> size and digest, as the sync found them."""
    listed = capability.metadata.get(FILES) if capability.kind == "skill" else None
    return {str(one["path"]): one for one in listed or () if isinstance(one, Mapping) and "path" in one}


def files_named(capability: Capability) -> str:
    """What a model that reads a skill is told of its files; nothing where it has none."""
    names = list(files_of(capability))
    if not names:
        return ""
    shown = "\n".join(f"- {capability.id}/{name}" for name in names[:MAX_FILES_NAMED])
    more = f"\n- and {len(names) - MAX_FILES_NAMED} more" if len(names) > MAX_FILES_NAMED else ""
    return f"\n\nFiles of this skill, for read_reference:\n{shown}{more}"


def mime_type_of(path: str) -> str:
    return guess_type(path)[0] or "text/plain"


def read_skill_file(capability: Capability, path: str, is_own: bool = True) -> SkillFile:
    """Raises `SourceError` where there is no such file, or where it is another than the sync found.

    What a file of others quotes to a model is taken out, as it is of the skill itself.
    """
    id, known = f"{capability.id}/{path[:200]}", files_of(capability).get(path)
    if known is None:
        raise SourceError(id, "the skill has no such file", "see the end of the skill for those it has")
    folder = os.path.dirname(capability.source_ref.place)
    try:
        content = read_bytes(folder, path, limit=int(known["bytes"]) + 1, links=False)
    except SourceError as error:
        raise SourceError(id, error.what, "sync again") from None
    if sha256(content).hexdigest() != known["sha256"]:
        raise SourceError(id, "it changed since the last sync", "sync again")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        kind = mime_type_of(path)
        return SkillFile(id, BINARY if kind.startswith("text/") else kind, None, content)
    if not is_own:
        text = without_quoted_orders(text)
    shown = clean_detail("skill", Detail(content=text)).content
    return SkillFile(id, mime_type_of(path), shown or "")
