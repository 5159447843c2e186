"""How conditions over a table of capabilities are written for each database, where they differ.

Above: `selection`. PostgreSQL takes lists as arrays and tells letter case apart in LIKE; SQLite takes lists
as JSON, and tells letter case apart in GLOB alone.
"""

import json
import re
from collections.abc import Sequence
from typing import Protocol

STARS = re.compile(r"\*+")


class Dialect(Protocol):
    def listed(self, values: Sequence[str] | Sequence[int]) -> object:
        """Many values as one parameter."""

    def one_of(self, column: str, listed: str) -> str:
        """A column has one of the values of a parameter."""

    def fitting(self, column: str, glob: str) -> str:
        """A column fits the glob of a parameter."""

    def fitting_any(self, column: str, globs: str) -> str:
        """A column fits one of the globs of a parameter."""

    def glob(self, text: str) -> str:
        """A glob, of which only `*` stands for others, as a parameter says it."""

    def matching(self, column: str, expression: str) -> str:
        """A regular expression in a parameter finds something in a column."""

    def before_colon(self, column: str) -> str:
        """What stands before the first colon of a column, or all of it."""


class ArrayDialect:
    def listed(self, values: Sequence[str] | Sequence[int]) -> object:
        return list(values)

    def one_of(self, column: str, listed: str) -> str:
        return f"{column} = ANY({listed})"

    def fitting(self, column: str, glob: str) -> str:
        return f"{column} LIKE {glob}"

    def fitting_any(self, column: str, globs: str) -> str:
        return f"{column} LIKE ANY({globs})"

    def glob(self, text: str) -> str:
        return "%".join(re.sub(r"([\\%_])", r"\\\1", part) for part in STARS.split(text))

    def matching(self, column: str, expression: str) -> str:
        return f"{column} ~ {expression}"

    def before_colon(self, column: str) -> str:
        return f"split_part({column}, ':', 1)"


class JsonDialect:
    def listed(self, values: Sequence[str] | Sequence[int]) -> object:
        return json.dumps(list(values))

    def one_of(self, column: str, listed: str) -> str:
        return f"{column} IN (SELECT value FROM json_each({listed}))"

    def fitting(self, column: str, glob: str) -> str:
        return f"{column} GLOB {glob}"

    def fitting_any(self, column: str, globs: str) -> str:
        return f"EXISTS (SELECT 1 FROM json_each({globs}) WHERE {column} GLOB value)"

    def glob(self, text: str) -> str:
        return "*".join(re.sub(r"([?[])", r"[\1]", part) for part in STARS.split(text))

    def matching(self, column: str, expression: str) -> str:
        return f"{column} REGEXP {expression}"

    def before_colon(self, column: str) -> str:
        return f"substr({column}, 1, instr({column} || ':', ':') - 1)"


POSTGRES = ArrayDialect()
SQLITE = JsonDialect()


def dialect_of(has_arrays: bool) -> Dialect:
    """That of a store whose parameters may be arrays, or of one whose may not."""
    return POSTGRES if has_arrays else SQLITE
