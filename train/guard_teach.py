"""Teach all layers of the shipped encoder to read for the guard. Needs torch; minutes on an accelerator.

    python -m train.guard_stretches --out cut
    python -m train.guard_teach --cut cut --out taught
    python -m train.guard_teach --cut cut --out one --by taught/opinions   # learns from those

A text is read in stretches, and the one that reads most like an attack is what its label is about. Texts are
drawn so that no author and no corpus outweighs the others. A part of the tokens is hidden while it learns;
every batch is learnt a second time with its words nudged to where they mislead most (adversarial training);
both are for authors nobody saw. Whole authors are left out, a fifth of them at a time, and then all are
learnt from. `opinions` holds what each network says of every stretch, by recipe and fold; one that learns
from them is taught by those alone that have left out the same authors.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.multiprocessing as parallel
from onnx import numpy_helper
from torch import Tensor

from train.graph import reader, weights_in
from train.guard_align import Messages
from train.guard_cut import FOLDS, NOBODY, Drawing, Places, Texts, folds_of, weights_of
from train.guard_net import Desk, Recipe, Scores, net_of, opinion, plain_weights, teach
from train.model import pick_device

ROOT = Path(__file__).resolve().parents[1]
ENCODER = ROOT / "src" / "prowess" / "discovery" / "model" / "model.onnx"
LONGEST = 128
HEADS = ("inner.", "outer.")
STUDENT = "student"
RECIPES: dict[str, tuple[Recipe, Drawing]] = {
    "plain": (Recipe(translated=0.3), Drawing(alike=0.8)),
    STUDENT: (Recipe(taught_by=0.6, translated=0.3, every=3, seed=9), Drawing(alike=0.8, unlabelled=0.25)),
}


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    recipe: Recipe
    drawing: Drawing

    @property
    def said(self) -> str:
        """The name of the file with its opinions."""
        fold = self.drawing.left_out
        return f"{self.name}-{'all' if fold == NOBODY else fold}.npy"


def jobs_of(names: Sequence[str], drawn: int, seconds: float) -> Iterator[Job]:
    """One for each recipe and fold named as `plain-0` or `plain-all`."""
    for said in names:
        name, _, fold = said.partition("-")
        recipe, drawing = RECIPES[name]
        chosen = replace(recipe, drawn=drawn or recipe.drawn, seconds=seconds)
        yield Job(name, chosen, replace(drawing, left_out=NOBODY if fold == "all" else int(fold)))


def encoder_weights(file: Path) -> dict[str, Tensor]:
    return {name: torch.from_numpy(weight) for name, weight in weights_in(onnx.load(file)).items()}


def network_weights(file: Path) -> dict[str, Tensor]:
    """Those of a network of the guard, with its head."""
    kept = {one.name: numpy_helper.to_array(one) for one in onnx.load(file).graph.initializer}
    head = {name: torch.from_numpy(np.array(kept[name])) for name in kept if name.startswith(HEADS)}
    return encoder_weights(file) | head


def said_by_others(folder: Path, job: Job, stretches: int) -> Scores:
    """The mean of what networks say that have left out the same authors; of texts added since, nothing."""
    files = sorted(folder.glob(f"*-{job.said.rpartition('-')[2]}"))
    said = np.mean([np.load(file).astype(np.float32) for file in files], axis=0)
    return np.append(said, np.full(stretches - len(said), np.nan, np.float32))


@dataclass(frozen=True, slots=True)
class Place:
    """Where everything lies, for one who works apart."""

    cut: Path
    out: Path
    encoder: Path
    by: Path | None
    pairs: Path | None
    onward: Path | None
    until: float
    """When nothing more is begun, in seconds since 1970."""


def work(waiting: "parallel.Queue[Job | None]", place: Place) -> None:
    """Do one job after the other until none is left."""
    torch.set_num_threads(2)
    torch.set_float32_matmul_precision("high")
    texts, start, device = Texts.open(place.cut), encoder_weights(place.encoder), pick_device()
    folds, messages = folds_of(texts), Messages.open(place.pairs, device) if place.pairs else None
    while (job := waiting.get()) is not None:
        began = time.monotonic()
        if time.time() > place.until:
            continue
        others = (
            said_by_others(place.by, job, len(texts.lengths)) if place.by and job.recipe.taught_by else None
        )
        desk, begins = Desk.of(texts, device, others, messages), start
        if place.onward and job.drawing.left_out == NOBODY:
            begins = network_weights(place.onward)
            job, desk = onward(job, desk, begins)
        _do(job, desk, folds, begins, place.out)
        print(f"{job.said}: {time.monotonic() - began:.0f} s", flush=True)


def onward(job: Job, desk: Desk, start: dict[str, Tensor]) -> tuple[Job, Desk]:
    """How a network that learnt before learns on: more slowly, and of English texts from itself."""
    said = opinion(net_of(start).to(desk.device).eval(), desk, np.arange(len(desk.texts.lengths)))
    owners = np.repeat(np.arange(len(desk.texts.about)), np.diff(desk.texts.first))
    foreign = torch.from_numpy(~np.isin(desk.texts.column("language"), ("", "en"))[owners]).to(desk.device)
    own = torch.from_numpy(said).to(desk.device)
    taught = own if desk.opinions is None else torch.where(foreign, desk.opinions, own)
    recipe = replace(job.recipe, rate=job.recipe.rate / 2)
    return replace(job, recipe=recipe), replace(desk, opinions=taught)


def _do(job: Job, desk: Desk, folds: Places, start: dict[str, Tensor], out: Path) -> None:
    net = teach(desk, job.recipe, weights_of(desk.texts, job.drawing, folds), start)
    said = opinion(net, desk, np.arange(len(desk.texts.lengths)))
    np.save(out / "opinions" / job.said, said.astype(np.float16))
    if job.drawing.left_out == NOBODY:
        graph = reader(plain_weights(net), LONGEST)
        (out / f"{job.name}.onnx").write_bytes(graph.SerializeToString(deterministic=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the encoder to read for the guard.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--by", type=Path, help="the opinions that one network learns from")
    parser.add_argument("--pairs", type=Path, help="messages and their translations, of train.guard_messages")
    parser.add_argument("--onward", type=Path, help="the network that learns on, where nobody is left out")
    parser.add_argument("--recipes", nargs="*", choices=sorted(RECIPES), help="those to follow")
    parser.add_argument("--jobs", nargs="*", help="single recipes and folds, such as plain-0 plain-all")
    parser.add_argument("--until", type=float, default=1e9, help="begin nothing after so many seconds")
    parser.add_argument("--drawn", type=int, default=0, help="how many texts are drawn, to try things out")
    parser.add_argument("--seconds", type=float, default=0, help="how long each learns, instead of how much")
    parser.add_argument("--encoder", type=Path, default=ENCODER, help="of train.guard_align")
    parser.add_argument("--workers", type=int, default=1, help="how many learn at the same time")
    given = parser.parse_args()
    (given.out / "opinions").mkdir(parents=True, exist_ok=True)
    names = given.recipes or ([STUDENT] if given.by else [name for name in RECIPES if name != STUDENT])
    jobs = given.jobs or [f"{name}-{fold}" for name in names for fold in (*range(FOLDS), "all")]
    place = Place(
        given.cut, given.out, given.encoder, given.by, given.pairs, given.onward, time.time() + given.until
    )
    context = parallel.get_context("spawn")
    waiting = context.Queue()
    for job in (*jobs_of(jobs, given.drawn, given.seconds), *[None] * given.workers):
        waiting.put(job)
    workers = [context.Process(target=work, args=(waiting, place)) for _ in range(given.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"wrote {given.out}; put {STUDENT}.onnx into src/prowess/guard/model as taught.onnx")


if __name__ == "__main__":
    main()
