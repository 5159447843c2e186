"""Turn a trained reader into the files the package ships: its layers as int8 ONNX, and where its words are.

    python -m train.reader_convert --weights reader.safetensors --folder src/prowess/discovery/model

Its words are those of the encoder in the folder, which has them as rows of int8 numbers: they are read from
there, and not shipped twice.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
from safetensors.numpy import load_file

from prowess.discovery.reader import REQUEST, TOOL
from train.graph import pair_reader

LONGEST = REQUEST + TOOL + 3


def convert(weights: Path, folder: Path) -> None:
    """Write reader.onnx and reader.json beside the encoder."""
    learnt = {name: array.astype(np.float32) for name, array in load_file(weights).items()}
    (folder / "reader.onnx").write_bytes(pair_reader(learnt, LONGEST).SerializeToString(deterministic=True))
    encoder = (folder / "model.onnx").read_bytes()
    kept = {each.name: each for each in onnx.load_from_string(encoder).graph.initializer}
    about = {
        "digest": hashlib.sha256((folder / "reader.onnx").read_bytes()).hexdigest(),
        "encoder": hashlib.sha256(encoder).hexdigest(),
        "words": list(kept["words"].dims),
        "words_at": encoder.index(kept["words"].raw_data),
        "scales_at": encoder.index(kept["word_scales"].raw_data),
    }
    (folder / "reader.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--weights", type=Path, required=True)
    options.add_argument("--folder", type=Path, required=True)
    given = options.parse_args()
    convert(given.weights, given.folder)


if __name__ == "__main__":
    main()
