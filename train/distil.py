"""Teach a smaller or simpler student to give the vectors of a teacher. Needs torch.

    python -m train.distil --teacher fitted.safetensors --pairs pairs.jsonl \
        --tokenizer tokenizer.json --layers 0,2,5 --out student.safetensors

With `--layers static` the student is a table of one vector per token, averaged over the text.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from train.embed import Words, encode
from train.fit import LONGEST, advance, pace
from train.model import MiniLM, build, load, pick_device, save
from train.pairs import read_pairs

TEMPERATURE = 0.05


class Static(nn.Module):
    """One vector per token; a text is their mean, brought to length 1."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(table, freeze=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors = self.table(ids) * mask[:, :, None]
        return functional.normalize(vectors.sum(1).float(), dim=1)


def static_from(teacher: MiniLM, words: Words) -> Static:
    """Start from what the teacher makes of each token alone."""
    first, last = words([""])[0]
    vocabulary = words.tokenizer.get_vocab_size()
    teacher.eval()
    with torch.no_grad():
        table = encode(teacher, [[first, token, last] for token in range(vocabulary)], chunk=4096)
    # The marks of beginning and end say nothing about the text.
    table[[first, last]] = 0
    return Static(table)


def distil(
    teacher: MiniLM, student: nn.Module, tokens: Sequence[list[int]], steps: int, rate: float
) -> list[float]:
    """Train the student in place on texts, whole and with words left out."""
    random, size = Random(1), min(512, len(tokens))
    teacher.eval()
    student.train()
    learning = [weight for weight in student.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learning, rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: pace(step, steps))
    losses = []
    for _ in range(steps):
        batch = [vary(ids, random) for ids in random.sample(tokens, size)]
        with torch.no_grad():
            goal = encode(teacher, batch, chunk=size)
        loss = unlike(encode(student, batch, chunk=size), goal)
        advance(loss, learning, optimiser)
        schedule.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


def unlike(given: Tensor, goal: Tensor) -> Tensor:
    """Say how far the vectors are off, and how differently they rank each other."""
    apart = (1 - (given * goal).sum(1)).mean()
    hidden = torch.eye(len(goal), dtype=torch.bool, device=goal.device)
    wanted = (goal @ goal.T / TEMPERATURE).masked_fill(hidden, -1e4).log_softmax(1)
    found = (given @ given.T / TEMPERATURE).masked_fill(hidden, -1e4).log_softmax(1)
    return 2 * apart + functional.kl_div(found, wanted, log_target=True, reduction="batchmean")


def vary(ids: list[int], random: Random) -> list[int]:
    """Give back the text as it is, or a piece of it: the teacher knows what that means too."""
    if len(ids) < 6 or random.random() < 0.5:
        return ids
    start = random.randrange(1, len(ids) - 3)
    stop = random.randrange(start + 2, len(ids))
    return [ids[0], *ids[start:stop], ids[-1]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil a smaller encoder.")
    for name in ("teacher", "pairs", "tokenizer", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--layers", default="0,2,5", help="layers to keep, or `static`")
    parser.add_argument("--steps", type=int, default=1200)
    given = parser.parse_args()
    teacher = load(given.teacher).to(pick_device())
    words = Words.open(given.tokenizer, LONGEST)
    texts = sorted({text for pair in read_pairs(given.pairs) for text in (pair.request, pair.text)})
    if given.layers == "static":
        table = static_from(teacher, words).to(pick_device())
        losses = distil(teacher, table, words(texts), given.steps, rate=1e-3)
        save_file({"table": table.table.weight.detach().half().cpu().contiguous()}, given.out)
    else:
        kept = [int(layer) for layer in given.layers.split(",")]
        student = build(load_file(given.teacher), kept).to(pick_device())
        student.embeddings["word_embeddings"].requires_grad_(False)
        losses = distil(teacher, student, words(texts), given.steps, rate=3e-4)
        save(student, given.out)
    print(f"{len(losses)} steps, loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
