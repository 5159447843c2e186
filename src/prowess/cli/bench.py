"""`prowess bench`"""

import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from prowess import config as configuration
from prowess.cli.session import config_file, emit, json_option, progress_bar, say, table, writing
from prowess.engine.benchmark import BenchmarkOptions, SetResult, benchmark
from prowess.errors import ConfigError
from prowess.metrics import name_of
from prowess.opening import now, options_of


@click.command()
@click.argument("folder", nargs=-1, required=True, metavar="DIR...")
@click.option("--split", default="test", show_default=True, help="Which queries: train or test.")
@click.option(
    "--limit",
    default=2000,
    type=click.IntRange(1),
    show_default=True,
    help="At most this many queries a set.",
)
@click.option("--no-needs", is_flag=True, help="Do not split a request into its needs.")
@click.option("--min-ndcg", type=click.FloatRange(0, 100), metavar="PERCENT",
              help="Exit 1 when the mean NDCG@10 is below this; 90, not 0.9.")  # fmt: skip
@click.option("--run", "run_file", type=click.Path(), help="Write what was ranked; FILE.NAME per set.")
@json_option
def command(
    folder: tuple[str, ...], split: str, limit: int, no_needs: bool, min_ndcg: float | None,
    run_file: str | None, as_json: bool,
) -> None:  # fmt: skip
    """How well discovery finds what is right, on labelled requests.

    DIR holds tools.jsonl and queries.jsonl (and perhaps edges.jsonl); docs/discovery.md shows the
    format. Threshold and abstention are off; figures are in percent and latencies are cold.
    """
    files = run_files(run_file, [Path(place) for place in folder]) if run_file else []
    settings = configuration.load(config_file(), Path.cwd())
    options = options_of(settings, os.environ, {})
    chosen = BenchmarkOptions(split=split, limit=limit, needs=not no_needs)
    results = []
    for place in folder:
        with progress_bar(name_of(Path(place))) as progress:
            result = benchmark(
                Path(place), chosen, options, now, lambda done, total: progress("", done, total)
            )
        results.append(result)
        if files:
            write_run(result, files[len(results) - 1])
    show([result.figures for result in results], as_json)
    mean = statistics.fmean(float(result.figures["ndcg@10"]) for result in results)
    say(f"mean NDCG@10: {mean:.2f}")
    if min_ndcg is not None and mean < min_ndcg:
        say(f"below the minimum of {min_ndcg:g}")
        sys.exit(1)


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


def show(figures: list[dict[str, str | int | float]], as_json: bool) -> None:
    if as_json:
        emit(figures)
    else:
        table([key.upper() for key in figures[0]], [[str(v) for v in one.values()] for one in figures])
