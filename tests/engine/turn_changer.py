"""Another process that changes policy, providers and catalogue without pause until it is ended.

python -m tests.engine.turn_changer STORE FOLDER
"""

import itertools
import os
import sys
from pathlib import Path

from prowess.testing import StaticSource
from tests.engine.test_turn_processes import RULES, TOOLS, opened


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    with opened(url, folder) as engine:
        for turn in itertools.count():
            new = folder / f"policy.{turn % 2}"
            new.write_text(RULES[turn % 3])
            os.replace(new, folder / "policy.yaml")
            (engine.providers.activate if turn % 2 else engine.providers.deactivate)("static", "ada")
            engine.sources = (StaticSource(capabilities=TOOLS[: 3 - turn % 2]),)
            engine.sync(vectors=False)
            if turn == 3:
                print("changing", flush=True)


if __name__ == "__main__":
    main()
