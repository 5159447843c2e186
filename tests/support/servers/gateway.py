"""The gateway as a client starts it: `prowess serve mcp ...` in a process of its own.

With LOUD in the environment everything that any library logs goes to standard error.
"""

import logging
import os

from prowess.cli.main import main

if os.environ.get("LOUD"):
    logging.basicConfig(level=logging.DEBUG)
main()
