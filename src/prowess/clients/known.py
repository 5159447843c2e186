"""The clients that prowess can be put into, and what is particular about the file of each.

Above: the commands. Facts, no behaviour: what differs between clients is a field of `McpClient`.
"""

from prowess.clients.client import McpClient
from prowess.errors import NotFound

_OFF = ("disabled", True)
_NOT_ON = ("enabled", False)
_STDIO = {"type": "stdio"}
_HTTP = {"type": "http"}

CLIENTS = (
    McpClient(
        name="claude-code",
        title="Claude Code",
        user=("~/.claude.json",),
        project=(".mcp.json",),
        # Claude Code puts tools behind a search of its own unless an entry says that they are always wanted.
        local=_STDIO | {"alwaysLoad": True},
        remote=_HTTP | {"alwaysLoad": True},
        unset_is_fatal=True,
        reload="start a new session",
        tool="mcp__{server}__{tool}",
    ),
    McpClient(
        name="claude-desktop",
        title="Claude Desktop",
        user=("{programs}/Claude/claude_desktop_config.json",),
        remote=None,
    ),
    McpClient(
        name="cursor",
        title="Cursor",
        user=("~/.cursor/mcp.json",),
        project=(".cursor/mcp.json",),
        reload="reload its window",
        tool="Mcp({server}:{tool})",
    ),
    McpClient(
        name="vscode",
        title="VS Code",
        user=("{programs}/Code/User/mcp.json",),
        project=(".vscode/mcp.json",),
        keys=("servers",),
        local=_STDIO,
        remote=_HTTP,
        reload="start the server in its list of MCP servers",
        tool="{server}/{tool}",
    ),
    McpClient(
        name="codex",
        title="Codex",
        user=("~/.codex/config.toml",),
        project=(".codex/config.toml",),
        keys=("mcp_servers",),
        switch=_NOT_ON,
        inherited="env_vars",
        headers="http_headers",
        reload="start a new session",
    ),
    McpClient(
        name="gemini",
        title="Gemini CLI",
        user=("~/.gemini/settings.json",),
        project=(".gemini/settings.json",),
        url="httpUrl",
        reload="start a new session",
    ),
    McpClient(
        name="windsurf",
        title="Windsurf",
        user=("~/.codeium/windsurf/mcp_config.json",),
        switch=_OFF,
        url="serverUrl",
        reload="refresh its MCP servers",
    ),
    McpClient(
        name="zed",
        title="Zed",
        user=("{config}/zed/settings.json", "~/.config/zed/settings.json"),
        project=(".zed/settings.json",),
        keys=("context_servers",),
        switch=_NOT_ON,
        reload="nothing is to be done",
        tool="mcp:{server}:{tool}",
    ),
    McpClient(
        name="opencode",
        title="opencode",
        user=("~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"),
        project=("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
        keys=("mcp",),
        switch=_NOT_ON,
        local={"type": "local", "enabled": True},
        remote={"type": "remote", "enabled": True},
        command_in_one=True,
        env="environment",
        tool="{server}_{tool}",
    ),
    McpClient(
        name="cline",
        title="Cline",
        user=(
            "~/.cline/data/settings/cline_mcp_settings.json",
            "{programs}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        switch=_OFF,
        remote={"type": "streamableHttp"},
        reload="nothing is to be done",
    ),
    McpClient(
        name="roo-code",
        title="Roo Code",
        user=("{programs}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        project=(".roo/mcp.json",),
        switch=_OFF,
        remote={"type": "streamable-http"},
        reload="nothing is to be done",
    ),
    McpClient(
        name="kiro",
        title="Kiro",
        user=("~/.kiro/settings/mcp.json",),
        project=(".kiro/settings/mcp.json",),
        switch=_OFF,
        reload="nothing is to be done",
    ),
    McpClient(
        name="copilot-cli",
        title="GitHub Copilot CLI",
        user=("~/.copilot/mcp-config.json",),
        local={"type": "local", "tools": ["*"]},
        remote=_HTTP | {"tools": ["*"]},
        reload="start a new session",
        tool="{server}({tool})",
    ),
    McpClient(
        name="amazon-q",
        title="Amazon Q Developer",
        user=("~/.aws/amazonq/mcp.json",),
        project=(".amazonq/mcp.json",),
        switch=_OFF,
        remote=_HTTP,
        tool="@{server}/{tool}",
    ),
    McpClient(
        name="qwen-code",
        title="Qwen Code",
        user=("~/.qwen/settings.json",),
        project=(".qwen/settings.json",),
        url="httpUrl",
        reload="start a new session",
    ),
    McpClient(
        name="lm-studio",
        title="LM Studio",
        user=("~/.lmstudio/mcp.json",),
        reload="nothing is to be done",
    ),
)
NAMES = tuple(client.name for client in CLIENTS)


def client_named(name: str) -> McpClient:
    """The client of a name; raises `NotFound`, which names the nearest one."""
    found = next((client for client in CLIENTS if client.name == name), None)
    if found is None:
        raise NotFound("client", name, NAMES, f"known: {', '.join(NAMES)}")
    return found
