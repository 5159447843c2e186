"""The formats there are, by name."""

from prowess.errors import ConfigError, nearest
from prowess.prompt.formats.anthropic import AnthropicFormat
from prowess.prompt.formats.format import ToolFormat
from prowess.prompt.formats.gemini import GeminiFormat
from prowess.prompt.formats.mcp import McpFormat
from prowess.prompt.formats.openai import OpenAIChatFormat
from prowess.prompt.formats.responses import OpenAIResponsesFormat

FORMATS: tuple[ToolFormat, ...] = (
    OpenAIChatFormat(),
    OpenAIResponsesFormat(),
    AnthropicFormat(),
    GeminiFormat(),
    McpFormat(),
)


def tool_format(name: str) -> ToolFormat:
    """How a provider writes tools, calls and results.

    name: openai (chat completions), responses, anthropic, gemini or mcp.
    """
    found = {each.name: each for each in FORMATS}
    if name not in found:
        close = nearest(name, found)
        meant = f"did you mean {close!r}? " if close else ""
        raise ConfigError("format", f"{name!r} is no format of tools", f"{meant}known: {', '.join(found)}")
    return found[name]
