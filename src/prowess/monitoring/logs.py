"""What a server logs, to standard error: lines for people, or one JSON object a line for programs."""

import logging
import sys
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

LogFormat: TypeAlias = Literal["text", "json"]


class JsonLines(logging.Formatter):
    """`{"at", "level", "logger", "message"}`, and `failure` where there was one."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        level, message = record.levelname.lower(), record.getMessage()
        said = {"at": at, "level": level, "logger": record.name, "message": message}
        if record.exc_info:
            said["failure"] = self.formatException(record.exc_info)
        return msgspec.json.encode(said).decode()


def log_to_stderr(format: LogFormat = "text") -> None:
    """Warnings and what is worse, in this form, from here on."""
    handler = logging.StreamHandler(sys.stderr)
    if format == "json":
        handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
