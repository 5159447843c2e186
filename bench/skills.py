"""How many skills of the world load: `python -m bench.skills FOLDER...`, one folder for each package.

Unpack packages that ship a SKILL.md there; the table is what `bench/results/skills.md` holds.
"""

import sys
from collections import Counter
from pathlib import Path

from prowess.sources.files.skills import SkillFolders
from prowess.types import Draft, SourceReading


def read(folder: Path) -> tuple[SourceReading, list[Draft]]:
    reading = SkillFolders(name=folder.name, paths=(str(folder),)).read({})
    return reading, [draft for entry in reading.entries for draft in entry.drafts or ()]


def main() -> None:
    doubts: Counter[str] = Counter()
    refused: list[str] = []
    total = Counter[str]()
    print("| package | skills | load | with a warning | files beside |\n|---|---|---|---|---|")
    for folder in map(Path, sys.argv[1:]):
        reading, drafts = read(folder)
        files = sum(len(draft.capability.metadata.get("files", ())) for draft in drafts)
        warned = [p for p in reading.problems if p.severity == "warning"]
        refused += [f"{folder.name}: {p.what}" for p in reading.problems if p.severity == "error"]
        for problem in warned:
            for doubt in problem.what.removeprefix("is read, but: ").split("; "):
                doubts[" ".join(word for word in doubt.split() if word.isalpha())] += 1
        row = {"skills": len(reading.entries), "load": len(drafts), "warned": len(warned), "files": files}
        total.update(row)
        print(f"| {folder.name} | {' | '.join(map(str, row.values()))} |")
    print(f"| all | {' | '.join(str(total[key]) for key in ('skills', 'load', 'warned', 'files'))} |")
    print("\nRefused:\n", *(f"- {why}" for why in refused), sep="\n")
    print(
        "\nRead with a warning:\n",
        *(f"- {count} x {what}" for what, count in doubts.most_common(12)),
        sep="\n",
    )


main()
