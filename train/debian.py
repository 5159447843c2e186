"""Make labelled sets from Debian's package index: a package's one-line synopsis asks for it.

    python -m train.debian --index Translation-en --translated Translation-de --out sets

The synopsis in another language asks for the package described in English, which keeps requests in
other languages near the tools they mean. Files are the decompressed indexes that apt keeps.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from train.bench import Bench, Query, Tool, write_bench
from train.paraphrase import SENTENCE_END

# Parts of programs, and words without a program, are nothing that somebody asks for.
PART = re.compile(
    r"^(lib|task-|fonts?-|hunspell|myspell|aspell|manpages|gir1|ghc|r-cran|linux-|texlive-lang|education-)"
    r"|-(dev|dbg|dbgsym|doc|docs|data|common|l10n|i18n|locale|locales|examples|headers|theme|plugins?)(-|$)"
    r"|^(firefox|thunderbird|libreoffice|kde|calligra)-.*l10n"
)
HOLLOW = re.compile(r"transitional|dummy|metapackage|meta-package|debugging symbols", re.IGNORECASE)
MOST_TOOLS = 4000


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    digest: str
    synopsis: str
    description: str


def read_index(lines: Iterable[str]) -> Iterator[Package]:
    """Read the stanzas of an index; the digest is that of the English text a stanza translates."""
    fields, about = dict[str, str](), list[str]()
    for line in [*lines, "\n"]:
        if line.startswith(" "):
            about.append(line.strip())
        elif not line.strip():
            if "Package" in fields:
                yield Package(fields["Package"], fields["Description-md5"], fields["synopsis"], _first(about))
            fields, about = {}, []
        else:
            key, _, value = line.partition(":")
            told = key.startswith("Description-") and key != "Description-md5"
            fields["synopsis" if told else key] = value.strip()


def _first(about: list[str]) -> str:
    paragraph = " ".join(about).split(" . ")[0]
    return " ".join(SENTENCE_END.split(paragraph)[:3])[:400]


def askable(package: Package) -> bool:
    told = len(package.description) > 60 and len(package.synopsis) > 12
    return told and not PART.search(package.name) and not HOLLOW.search(package.synopsis)


def english_sets(packages: list[Package]) -> Iterator[Bench]:
    for start in range(0, len(packages), MOST_TOOLS):
        yield _bench(f"debian_{start}", packages[start : start + MOST_TOOLS], {})


def translated_set(name: str, packages: list[Package], translated: Iterable[Package]) -> Bench:
    synopses = {package.digest: package.synopsis for package in translated}
    known = [package for package in packages if package.digest in synopses]
    return _bench(name, known[:MOST_TOOLS], synopses)


def _bench(name: str, packages: list[Package], synopses: dict[str, str]) -> Bench:
    tools = tuple(Tool(package.name, package.name, package.description) for package in packages)
    asked = ((package.name, synopses.get(package.digest, package.synopsis)) for package in packages)
    return Bench(name, tools, tuple(Query(f"q-{id}", text, (id,), {}, "train") for id, text in asked))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make sets from Debian's package index.")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--translated", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    packages = [one for one in read_index(given.index.open(encoding="utf-8")) if askable(one)]
    Random(given.seed).shuffle(packages)
    benches = list(english_sets(packages))
    for path in given.translated:
        language = path.name.split("-", 1)[1]
        benches.append(
            translated_set(f"debian_{language}", packages, read_index(path.open(encoding="utf-8")))
        )
    for bench in benches:
        write_bench(bench, given.out)
        print(bench.name, len(bench.tools))


if __name__ == "__main__":
    main()
