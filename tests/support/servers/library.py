"""A well-behaved MCP server: two tools, a prompt, a resource and a template; stdio, or HTTP on a port."""

import sys

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("library")


@server.tool(title="Find a book", annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def find_book(title: str, year: int = 0) -> str:
    """Find a book by its title."""
    return f"{title} ({year})"


@server.tool()
def lendBook(title: str) -> str:
    """Lend a book to somebody."""
    return title


@server.prompt()
def recommend(genre: str) -> str:
    """Recommend something to read."""
    return f"Recommend a book of the genre {genre}."


@server.resource("library://opening-hours", name="opening-hours", mime_type="text/plain")
def opening_hours() -> str:
    """When the library is open."""
    return "always"


@server.resource("library://books/{title}", name="book")
def book(title: str) -> str:
    """The text of one book."""
    return title


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
