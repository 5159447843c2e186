"""`prowess bench`"""

import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from prowess import config as configuration
from prowess.cli.session import (
    config_file,
    emit,
    json_option,
    opened,
    printable,
    progress_bar,
    say,
    table,
    writing,
)
from prowess.engine.benchmark import (
    BenchmarkOptions,
    SetResult,
    benchmark,
    own_benchmark,
    queries_of_file,
    queries_of_journal,
)
from prowess.errors import ConfigError
from prowess.metrics import name_of
from prowess.opening import now, options_of
from prowess.types import DEFAULT_AGENT


@click.command()
@click.argument("place", nargs=-1, metavar="DIR_OR_FILE...")
@click.option("--from-journal", is_flag=True, help="Ask your own catalogue what agents asked it here.")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="Who asks the queries of a file.")
@click.option("--split", default="test", show_default=True, help="Which queries: train or test.")
@click.option(
    "--limit",
    default=2000,
    type=click.IntRange(1),
    show_default=True,
    help="At most this many queries in each set.",
)
@click.option("--no-needs", is_flag=True, help="Do not split a request into its needs.")
@click.option("--min-ndcg", type=click.FloatRange(0, 100), metavar="PERCENT",
              help="Exit 1 when the mean NDCG@10 is below this; 90, not 0.9.")  # fmt: skip
@click.option("--misses", default=0, type=click.IntRange(0), metavar="N",
              help="Show the N requests that came out worst, without secrets.")  # fmt: skip
@click.option("--run", "run_file", type=click.Path(), help="Write what was ranked; FILE.NAME per set.")
@json_option
def command(
    place: tuple[str, ...], from_journal: bool, agent: str, split: str, limit: int, no_needs: bool,
    min_ndcg: float | None, misses: int, run_file: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure how well discovery finds the right capabilities, on labelled requests.

    A folder with tools.jsonl and queries.jsonl is a set of its own. A file of queries, a folder that has
    only queries.jsonl, and --from-journal measure your own catalogue as it stands; of the journal, requests
    are taken of which it is known what was used for them and worked. docs/discovery.md shows the format.
    Threshold and abstention are off; figures are in percent and latencies are cold.
    """
    places = [Path(one) for one in place]
    if not places and not from_journal:
        raise click.UsageError("name a folder or a file of queries, or say --from-journal")
    names = [*places, *([Path("journal")] if from_journal else [])]
    files = run_files(run_file, names) if run_file else []
    chosen = BenchmarkOptions(split=split, limit=limit, needs=not no_needs)
    results = [_measured(one, agent, chosen) for one in places]
    if from_journal:
        with opened() as engine:
            results.append(own_benchmark(engine, queries_of_journal(engine), chosen))
    for result, file in zip(results, files, strict=False):
        write_run(result, file)
    show(results, misses, as_json)
    mean = statistics.fmean(float(result.figures["ndcg@10"]) for result in results)
    say(f"mean NDCG@10: {mean:.2f}")
    if min_ndcg is not None and mean < min_ndcg:
        say(f"below the minimum of {min_ndcg:g}")
        sys.exit(1)


def _measured(place: Path, agent: str, chosen: BenchmarkOptions) -> SetResult:
    """One set with its own tools, or queries for the catalogue that is here."""
    queries = place / "queries.jsonl" if place.is_dir() else place
    if place.is_dir() and ((place / "tools.jsonl").exists() or not queries.exists()):
        settings = configuration.load(config_file(), Path.cwd(), os.environ)
        options = options_of(settings, os.environ, {})
        with progress_bar(name_of(place)) as progress:
            return benchmark(place, chosen, options, now, lambda done, total: progress("", done, total))
    with opened() as engine:
        return own_benchmark(engine, queries_of_file(engine, queries, agent), chosen)


def run_files(file: str, folders: Sequence[Path]) -> list[Path]:
    """Where each set's ranking goes; what cannot be written is said before anything is measured."""
    files = [Path(file)] if len(folders) == 1 else [Path(f"{file}.{name_of(one)}") for one in folders]
    if len(set(files)) < len(files):
        raise ConfigError("--run", "two folders have one name, and so would their files", "run one at a time")
    for one in files:
        if one.is_dir() or not os.access(one if one.exists() else one.parent, os.W_OK):
            raise ConfigError(str(one), "cannot be written", "name a file in a folder that is there")
    return files


def write_run(result: SetResult, file: Path) -> None:
    lines = (msgspec.json.encode({"id": id, "ranked": ids}) for id, ids in result.ranked.items())
    with writing():
        file.write_bytes(b"".join(line + b"\n" for line in lines))


def show(results: Sequence[SetResult], misses: int, as_json: bool) -> None:
    worst = [(result, result.misses[:misses]) for result in results]
    if as_json:
        emit([{**result.figures, **({"misses": missed} if misses else {})} for result, missed in worst])
        return
    keys = list(dict.fromkeys(key for result in results for key in result.figures))
    rows = [[str(result.figures.get(key, "")) for key in keys] for result in results]
    table([key.upper() for key in keys], rows)
    for result, missed in worst:
        for one in missed:
            came, right = ", ".join(one.first) or "nothing", ", ".join(one.gold)
            click.echo(printable(f"{result.figures['name']}: {one.request!r} found {came}; right: {right}"))
