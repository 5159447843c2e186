"""Make a model, a tokenizer and two labelled sets so small that every step runs in seconds.

python -m train.tiny --out DIR
"""

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

Weights = dict[str, npt.NDArray[np.float32]]

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
VERBS = ("send", "read", "delete", "find", "copy", "print")
THINGS = ("mail", "file", "photo", "song", "book", "map", "note", "ticket")
OTHERS = ("a", "the", "please", "my", "for", "me", "and", "also", "then", "name", "parameters")
VOCABULARY = (*MARKS, *VERBS, *THINGS, *OTHERS)


def tokenizer() -> str:
    """A tokenizer of the published one's kind that knows a few words."""
    special = [
        {"id": place, "content": mark, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for place, mark in enumerate(MARKS)
    ]  # fmt: skip
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {word: place for place, word in enumerate(VOCABULARY)},
    }
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": special,
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "decoder": None,
            "model": model,
        }
    )


def random_weights(width: int = 32, inner: int = 64, layers: int = 2) -> Weights:
    random, shapes = np.random.default_rng(1), _shapes(width, inner, layers)
    return {
        name: np.ones(shape, np.float32)
        if name.endswith("LayerNorm.weight")
        else random.normal(0, 0.2, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def _shapes(width: int, inner: int, layers: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), width),
        "embeddings.position_embeddings.weight": (256, width),
        "embeddings.token_type_embeddings.weight": (2, width),
    }
    norms, dense = ["embeddings.LayerNorm"], dict[str, tuple[int, int]]()
    for layer in range(layers):
        start = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense[f"{start}.attention.{part}"] = (width, width)
        dense[f"{start}.intermediate.dense"] = (inner, width)
        dense[f"{start}.output.dense"] = (width, inner)
        norms += [f"{start}.attention.output.LayerNorm", f"{start}.output.LayerNorm"]
    for name, shape in dense.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes | {f"{name}.{part}": (width,) for name in norms for part in ("weight", "bias")}


def write_set(folder: Path, verbs: tuple[str, ...]) -> None:
    """Write a catalogue of every verb with every thing, and two queries for each tool."""
    folder.mkdir(parents=True, exist_ok=True)
    both = [(verb, thing) for verb in verbs for thing in THINGS]
    tools = [
        {"id": f"{verb}_{thing}", "name": f"{verb}_{thing}", "description": f"{verb} a {thing}",
         "parameters": {"name": ""}, "server": None, "category": None}
        for verb, thing in both
    ]  # fmt: skip
    queries = [
        {"id": f"{split}-{verb}-{thing}", "query": words.format(verb, thing),
         "gold": [f"{verb}_{thing}"], "alternatives": {}, "split": split}
        for verb, thing in both
        for split, words in (("train", "please {} my {}"), ("test", "{} the {} for me"))
    ]  # fmt: skip
    for name, rows in (("tools", tools), ("queries", queries)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def main() -> None:
    # Only this step writes weights, and tests use the others where safetensors is not installed.
    from safetensors.numpy import save_file

    parser = argparse.ArgumentParser(description="Make a tiny setting to follow the pipeline in.")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    write_set(given.out / "bench" / "one", VERBS[:3])
    write_set(given.out / "bench" / "two", VERBS[3:])
    (given.out / "tokenizer.json").write_text(tokenizer(), encoding="utf-8")
    save_file(random_weights(width=384), given.out / "base.safetensors")


if __name__ == "__main__":
    main()
