"""What a mark in a request means to a tool: `tell #general` is a message to a channel.

Pure. Above: the ranker, which reads a request with these words, too, and takes what is nearer.
"""

import re

OF_A_CHANNEL = "message channel"
_CHANNEL = re.compile(r"\b(?:ask|from|in|on|tell|to) #(?![0-9a-f]{3,8}\b)[a-z][a-z0-9_-]*")
"""`tell #general`: a place to write to; `#123` is a number, `to #ff0000` a colour, `with #Sunday` a word."""


def with_mentions(request: str) -> str:
    """The request with what its marks mean behind it; nothing where there are none."""
    return f"{request} ({OF_A_CHANNEL})" if _CHANNEL.search(request) else ""
