"""prowess beside its peers: the same tools, the same requests, ten hits each, one thread.

    python -m bench.peers SETS [--base FOLDER] [--only ROW ...]

SETS is the folder with the sets metatool and sealtools. FOLDER holds a base all-MiniLM-L6-v2 as the
package's own encoder reads it (model.onnx, tokenizer.json, digests.json); it is given to every peer
that takes an encoder. Without it the shipped encoder is used for all, and the table says so.
`bench/peers/requirements.txt` names the versions; a row that fails is shown with its error.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from bench.peers.rows import ROWS, run

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
HEAD = """\
| library | version | encoder | metatool R@1 / 5 / 10 | Seal-Tools multi R@1 / 5 / 10 | exact name R@1 \
| chit-chat left empty | p50 ms at 1,000, wall (CPU) | build s at 1,000 |
|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    reader = argparse.ArgumentParser(prog="python -m bench.peers")
    reader.add_argument("sets", type=Path)
    reader.add_argument("--base", type=Path)
    reader.add_argument("--only", nargs="*", choices=list(ROWS), default=list(ROWS))
    reader.add_argument("--row", choices=list(ROWS), help=argparse.SUPPRESS)
    asked = reader.parse_args()
    if asked.row:
        print(json.dumps(run(asked.row, asked.sets, asked.base)))
        return
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}.")
    print("Base encoder: " + ("all-MiniLM-L6-v2, int8." if asked.base else "none given, the shipped one."))
    print(f"\n{HEAD}", flush=True)
    for row in asked.only:
        print(_line(row, sys.argv[1:]), flush=True)


def _line(row: str, arguments: list[str]) -> str:
    """Run one row in a process of its own, so that none warms or slows another."""
    command = [sys.executable, "-m", "bench.peers", *arguments[:1], *_base(arguments), "--row", row]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return f"| {ROWS[row].label} | did not run: {last} |" + " |" * 7
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    return "| " + " | ".join(str(figures[name]) for name in figures) + " |"


def _base(arguments: list[str]) -> list[str]:
    return arguments[(at := arguments.index("--base")) : at + 2] if "--base" in arguments else []


if __name__ == "__main__":
    main()
