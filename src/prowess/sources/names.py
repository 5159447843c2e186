"""What servers and documents call things: what a name, a description or a schema may be here.

Above: the sources that read servers and API documents, whose authors know nothing of our limits.
"""

import json
import re

from prowess.types import JsonObject

LONGEST_NAME = 256
LONGEST_DESCRIPTION = 8192
LARGEST_SCHEMA = 1024 * 1024


def fault_of_name(name: str) -> str:
    if not name or len(name) > LONGEST_NAME:
        return f"a name has between 1 and {LONGEST_NAME} characters, this one has {len(name)}"
    return "" if name.isprintable() and name == name.strip() else "the name holds invisible characters"


def display_name(name: str) -> str:
    """The words of a name, each with a capital: `read_file` and `readFile` are both Read File."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[\W_]+", " ", name)).split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or name


def cut(text: str, longest: int) -> str:
    """A text that any database can hold, up to a length."""
    storable = text.replace("\0", "").encode("utf-8", "replace").decode()
    return storable if len(storable) <= longest else f"{storable[: longest - 1]}…"


def legible(name: str, longest: int = 80) -> str:
    """A stranger's text as a message may show it."""
    return cut("".join(c for c in name if c.isprintable()), longest) or "without a name"


def fault_of_schema(schema: JsonObject | None) -> str:
    text = json.dumps(schema) if schema else ""
    if len(text) > LARGEST_SCHEMA:
        return f"its schema has {len(text)} characters, more than {LARGEST_SCHEMA}"
    return "its schema holds a null character" if "\\u0000" in text else ""
