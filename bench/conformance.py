"""The official conformance suite, every scenario that a revision requires, one after the other.

    python -m bench.conformance [--only auth]

The short ones are among the tests, see tests/gateway/test_conformance.py; logins take a few seconds each.
"""

import argparse
import tempfile
from pathlib import Path

from tests.support.conformance import of_client, required

RESULTS = Path(__file__).parent / "results" / "conformance.md"
REVISIONS = ("2026-07-28", "2025-11-25")
HEAD = """# The official conformance suite, in the place of a client

`python -m bench.conformance`. A gateway over the suite's server: it logs in where that is wanted, then calls
every tool through the gateway. Checks that passed and failed, of every scenario that the revision requires.

| revision | scenario | passed | failed |
|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose names hold this")
    only = parser.parse_args().only
    rows, whole = [], 0
    for revision in REVISIONS:
        for scenario in required(revision, "client"):
            if only not in scenario:
                continue
            with tempfile.TemporaryDirectory() as folder:
                score = of_client(scenario, revision, Path(folder))
            whole += not score.failed
            rows.append(f"| {revision} | {scenario} | {score.passed} | {score.failed} |")
            print(rows[-1], flush=True)
    said = f"{HEAD}{chr(10).join(rows)}\n\nScenarios without a failed check: {whole} of {len(rows)}.\n"
    if not only:
        RESULTS.write_text(said)


if __name__ == "__main__":
    main()
