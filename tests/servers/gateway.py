"""The gateway as a client starts it: `prowess serve mcp ...` in a process of its own."""

from prowess.cli.main import COMMANDS, main

COMMANDS.setdefault("serve", "Servers: everything behind one door.")
main()
