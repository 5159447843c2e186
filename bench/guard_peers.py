"""Measure offline classifiers of PyPI beside the guard: `python -m bench.guard_peers [NAME ...]`.

All read the same sample of `test` of shared/security/more in one run: every fourth attack, and one honest
text in so many that some 300 ordinary and 200 hard ones remain. Each must be installed beside prowess; what
is not is left out and named. Whatever one of them does not call harmless counts as stopped, or touched.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence

from bench.guard import Row, rows, share, stopped, touched
from prowess.guard.classifier import Classifier
from train.guard_texts import MORE

Flags = Callable[[str], bool]
EVERY = {"attacks": 4, "ordinary": 7, "hard": 6}


def stackone() -> Flags:
    from stackone_defender import PromptDefense  # type: ignore[import-not-found]

    defence = PromptDefense(block_high_risk=True)
    return lambda text: not defence.defend_tool_result(text, "tool").allowed


def detector() -> Flags:
    from prompt_injection_detector import Scanner  # type: ignore[import-not-found]

    scanner = Scanner()
    return lambda text: str(scanner.scan(text).decision) != "allow"


def armor() -> Flags:
    from prompt_armor import analyze  # type: ignore[import-not-found]

    return lambda text: "ALLOW" not in str(analyze(text).decision).upper()


def injectguard() -> Flags:
    from injectguard import scan  # type: ignore[import-not-found]

    return lambda text: bool(scan(text).is_injection)


def injection_guard() -> Flags:
    from llm_injection_guard import InjectionDetector  # type: ignore[import-not-found]

    scanner = InjectionDetector()
    return lambda text: bool(scanner.scan(text).is_injection)


def defense() -> Flags:
    from prompt_injection_defense import detect_prompt_injection  # type: ignore[import-not-found]

    return lambda text: detect_prompt_injection(text)["label"] != "benign"


def canary() -> Flags:
    from little_canary import StructuralFilter  # type: ignore[import-not-found]

    screen = StructuralFilter(max_input_length=1_000_000)
    return lambda text: bool(screen.check(text).blocked)


PEERS: dict[str, Callable[[], Flags]] = {
    "stackone-defender": stackone,
    "prompt-injection-detector": detector,
    "prompt-armor": armor,
    "injectguard": injectguard,
    "llm-injection-guard": injection_guard,
    "prompt-injection-defense": defense,
    "little-canary": canary,
}


def sample() -> dict[str, list[Row]]:
    """The same texts each time, of all sources."""
    kept: dict[str, list[Row]] = {name: [] for name in EVERY}
    for name in ("attacks", "honest"):
        for row in rows(MORE / f"{name}.jsonl"):
            if row["split"] == "test" and not row.get("doubt"):
                kept["attacks" if name == "attacks" else row["kind"]].append(row)
    return {name: found[:: EVERY[name]] for name, found in kept.items()}


def line(name: str, parts: dict[str, list[Row]], hit: Callable[[Row, bool], bool]) -> str:
    told: list[str] = []
    taken: list[float] = []
    for part, found in parts.items():
        hits = 0
        for row in found:
            start = time.process_time()
            hits += hit(row, part == "attacks")
            taken.append(1000 * (time.process_time() - start))
        told.append(share(hits, len(found)))
    return f"| {name} | {' | '.join(told)} | {statistics.median(taken):.1f} ms |"


def by(flags: Flags) -> Callable[[Row, bool], bool]:
    return lambda row, bad: flags(row["text"])


def main(wanted: Sequence[str]) -> None:
    parts = sample()
    classifier = Classifier.open()
    print("| | stopped | ordinary touched | hard touched | process time a text, median |")
    print("|---|---:|---:|---:|---:|")
    ours = line("prowess", parts, lambda row, bad: (stopped if bad else touched)(row, classifier))
    print(ours, flush=True)
    for name in wanted or PEERS:
        try:
            print(line(name, parts, by(PEERS[name]())), flush=True)
        except ImportError as missing:
            print(f"{name}: not installed ({missing})", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
