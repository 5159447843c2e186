"""One operation of an OpenAPI document, as it stands there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApiOperation:
    path: str
    method: str
    fields: Table
    item: Table

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def name(self) -> str:
        given = self.fields.get("operationId")
        if isinstance(given, str) and given:
            return given
        return f"{self.method}_{re.sub(r'[^A-Za-z0-9]+', '_', self.path).strip('_')}".rstrip("_")
