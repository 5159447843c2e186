"""Average the weights of models that started from the same one.

python -m train.average --out mean.safetensors one.safetensors two.safetensors
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from train.convert import read_weights
from train.graph import Weights


def average(models: Sequence[Weights]) -> Weights:
    return {name: np.mean([model[name] for model in models], axis=0, dtype=np.float32) for name in models[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Average models, weight by weight.")
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    mean = average([read_weights(path) for path in given.models])
    save_file({name: weight.astype(np.float16) for name, weight in mean.items()}, given.out)


if __name__ == "__main__":
    main()
