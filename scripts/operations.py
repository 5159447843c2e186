"""Write the table of operations in docs/api.md from the code: `python -m scripts.operations`."""

import sys
from pathlib import Path

from prowess.operations.operation import AnyOperation
from prowess.web.operations import everything

FILE = Path(__file__).parent.parent / "docs" / "api.md"
BEGIN, END = "<!-- operations: python -m scripts.operations -->\n", "<!-- /operations -->\n"
HEAD = "| operation | request | for | does | may raise |\n|---|---|---|---|---|\n"


def with_operations(page: str) -> str:
    """The page with the operations as they are now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{operations()}{END}{after}"


def operations() -> str:
    return HEAD + "".join(map(_row, everything().operations))


def _row(operation: AnyOperation) -> str:
    query = "?agent=" if operation.about_agent else ""
    who = f"{operation.role}, the agent" if operation.agents else operation.role
    raised = ", ".join(f"`{error.__name__}`" for error in operation.errors)
    address = f"{operation.method} {operation.path}{query}"
    return f"| `{operation.id}` | `{address}` | {who} | {operation.does} | {raised} |\n"


if __name__ == "__main__":
    FILE.write_text(with_operations(FILE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{FILE} is written\n")
