"""Where things lie, whichever room asks."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
SERVERS = TESTS / "support" / "servers"
PACKAGE = ROOT / "src" / "prowess"
