"""Build the documentation into build/site: `make docs`, or `python -m scripts.site` where mkdocs is.

Pages link to others as they lie in the repository, so the site is built from a copy with the same folders:
every page, every picture, and each other file that a page links to. A link that leads nowhere ends the build.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPY = ROOT / "build" / "pages"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"[a-z]+:")


def pages() -> list[Path]:
    """Every page of the site."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def links(page: Path) -> Iterator[tuple[str, str]]:
    """The links of a page that stay here: a path, empty for the page itself, and a heading of it."""
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if not ELSEWHERE.match(target):
            path, _, part = target.partition("#")
            yield path, part


def build() -> int:
    """Copy what the site is made of, and build it; 0 where nothing is wrong."""
    shutil.rmtree(COPY, ignore_errors=True)
    linked = {(page.parent / path).resolve() for page in pages() for path, _ in links(page) if path}
    for file in {*pages(), *(file for file in linked if file.is_file())}:
        place = COPY / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", "mkdocs.yml"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(build())
