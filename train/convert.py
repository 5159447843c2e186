"""Turn trained weights into the files the package ships: int8 ONNX, tokenizer, digests.

python -m train.convert --weights model.safetensors --tokenizer tokenizer.json --out DIR
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from train.graph import LONGEST, Weights, minilm


def read_weights(path: Path) -> Weights:
    """Read weights of any precision as float32, without the parts the encoder does not use."""
    return {
        name: array.astype(np.float32)
        for name, array in load_file(path).items()
        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")
    }


def convert(weights: Weights, tokenizer: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.onnx").write_bytes(minilm(weights).SerializeToString(deterministic=True))
    (out / "tokenizer.json").write_text(plain_tokenizer(tokenizer), encoding="utf-8")
    shipped = ("model.onnx", "tokenizer.json")
    digests = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in shipped}
    (out / "digests.json").write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")


def plain_tokenizer(text: str) -> str:
    """Set the truncation the graph allows and no padding: texts are encoded one by one."""
    settings = json.loads(text)
    settings["padding"] = None
    settings["truncation"] = {
        "direction": "Right",
        "max_length": LONGEST,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    return json.dumps(settings, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Turn weights into the shipped int8 model.")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = given.tokenizer.read_text(encoding="utf-8")
    convert(read_weights(given.weights), tokenizer, given.out)


if __name__ == "__main__":
    main()
