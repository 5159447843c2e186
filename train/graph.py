"""Write MiniLM's forward pass as an int8 ONNX graph, pooling and normalisation included.

Above stands `convert`, which names the files; below is nothing but numpy and onnx.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, npt.NDArray[np.float32]]
Array = npt.NDArray[np.generic]

HEAD_WIDTH = 32
LONGEST = 256
OPSET = 20


@dataclass(frozen=True, slots=True)
class Rounded:
    """Int8 values and the scale of each row or column that turns them back."""

    values: npt.NDArray[np.int8]
    scale: npt.NDArray[np.float32]


def round_to_int8(weight: npt.NDArray[np.float32], along: int) -> Rounded:
    """Quantise symmetrically, one scale for every slice across the axis `along`."""
    largest = np.abs(weight).max(axis=along, keepdims=True)
    scale = np.maximum(largest, 1e-12).astype(np.float32) / np.float32(127)
    values = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
    return Rounded(values, scale)


@dataclass(slots=True)
class Sheet:
    """The nodes and constants of a graph while it is being written."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def constant(self, name: str, value: Array) -> str:
        # Row-major, because onnx stores the raw bytes and forgets a transposed view's strides.
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        return self.add_many(op, 1, *inputs, **attributes)[0]

    def add_many(self, op: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        outputs = [f"{op}_{len(self.nodes)}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), outputs, **attributes))
        return outputs


def minilm(weights: Weights) -> onnx.ModelProto:
    """Build the model: `input_ids` [texts, tokens] without padding to `embedding` [texts, width]."""
    sheet = Sheet()
    state = _embed(sheet, weights)
    for layer in range(count_layers(weights)):
        state = _attend(sheet, weights, layer, state)
        state = _transform(sheet, weights, layer, state)
    mean = sheet.add("ReduceMean", state, sheet.constant("token_axis", np.array([1])), keepdims=0)
    vector = sheet.add("LpNormalization", mean, axis=-1, p=2)
    sheet.nodes.append(helper.make_node("Identity", [vector], ["embedding"]))
    return _model(sheet, weights["embeddings.word_embeddings.weight"].shape[1])


def reader(weights: Weights, longest: int) -> onnx.ModelProto:
    """The guard's reader: `input_ids` [texts, tokens] without padding to `log_odds` [texts, 1]."""
    sheet = Sheet()
    shorter = dict(weights)
    shorter["embeddings.position_embeddings.weight"] = weights["embeddings.position_embeddings.weight"][
        :longest
    ]
    state = _embed(sheet, shorter)
    for layer in range(count_layers(weights)):
        state = _attend(sheet, weights, layer, state)
        state = _transform(sheet, weights, layer, state)
    _judge(sheet, weights, state)
    return _model(sheet, 1, "log_odds")


def pair_reader(weights: Weights, longest: int) -> onnx.ModelProto:
    """Discovery's reader: `words` [pairs, tokens, width], the encoder's, to `log_odds` [pairs, 1]."""
    sheet = Sheet()
    state = _with_places(sheet, weights, "words", longest)
    for layer in range(count_layers(weights)):
        state = _attend(sheet, weights, layer, state)
        state = _transform(sheet, weights, layer, state)
    _judge(sheet, weights, state)
    width = weights["embeddings.position_embeddings.weight"].shape[1]
    words = helper.make_tensor_value_info("words", TensorProto.FLOAT, ["pairs", "tokens", width])
    return _model(sheet, 1, "log_odds", words)


def _judge(sheet: Sheet, weights: Weights, state: str) -> None:
    """The log-odds, from the mean of what was read."""
    seen = sheet.add("ReduceMean", state, sheet.constant("token_axis", np.array([1])), keepdims=0)
    inner = _dense(sheet, weights, "inner", seen)
    said = _dense(sheet, weights, "outer", sheet.add("Tanh", inner))
    sheet.nodes.append(helper.make_node("Identity", [said], ["log_odds"]))


def _dense(sheet: Sheet, weights: Weights, name: str, state: str) -> str:
    matrix = sheet.constant(f"{name}.weight", weights[f"{name}.weight"])
    bias = sheet.constant(f"{name}.bias", weights[f"{name}.bias"])
    return sheet.add("Gemm", state, matrix, bias, transB=1)


def count_layers(weights: Weights) -> int:
    return len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})


def _model(
    sheet: Sheet, width: int, name: str = "embedding", given: onnx.ValueInfoProto | None = None
) -> onnx.ModelProto:
    ids = given or helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    rows = ids.type.tensor_type.shape.dim[0].dim_param
    out = helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, width])
    graph = helper.make_graph(sheet.nodes, "minilm", [ids], [out], list(sheet.constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def _embed(sheet: Sheet, weights: Weights) -> str:
    table = round_to_int8(weights["embeddings.word_embeddings.weight"], along=1)
    rows = sheet.add("Gather", sheet.constant("words", table.values), "input_ids")
    scales = sheet.add("Gather", sheet.constant("word_scales", table.scale), "input_ids")
    words = sheet.add("Mul", sheet.add("Cast", rows, to=TensorProto.FLOAT), scales)
    return _with_places(sheet, weights, words, LONGEST)


def _with_places(sheet: Sheet, weights: Weights, words: str, longest: int) -> str:
    # Every token is of the first type, so that row is folded into the positions.
    places = weights["embeddings.position_embeddings.weight"][:longest]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    length = sheet.add("Shape", words, start=1, end=2)
    zero = sheet.constant("zero", np.array([0]))
    used = sheet.add("Slice", sheet.constant("positions", places), zero, length, zero)
    return _normalise(sheet, weights, "embeddings.LayerNorm", sheet.add("Add", words, used))


def _normalise(sheet: Sheet, weights: Weights, name: str, state: str) -> str:
    gain = sheet.constant(f"{name}.weight", weights[f"{name}.weight"])
    bias = sheet.constant(f"{name}.bias", weights[f"{name}.bias"])
    return sheet.add("LayerNormalization", state, gain, bias, axis=-1, epsilon=1e-12)


def _project(
    sheet: Sheet, name: str, matrix: npt.NDArray[np.float32], bias: npt.NDArray[np.float32], state: str
) -> str:
    """Multiply by an int8 matrix [inputs, outputs]; the activations are rounded as they come."""
    rounded = round_to_int8(matrix, along=0)
    values, scale, zero = sheet.add_many("DynamicQuantizeLinear", 3, state)
    kernel = sheet.constant(f"{name}.kernel", rounded.values)
    no_shift = sheet.constant(f"{name}.shift", np.zeros(matrix.shape[1], np.int8))
    product = sheet.add("MatMulInteger", values, kernel, zero, no_shift)
    back = sheet.add("Mul", scale, sheet.constant(f"{name}.scale", rounded.scale[0]))
    exact = sheet.add("Mul", sheet.add("Cast", product, to=TensorProto.FLOAT), back)
    return sheet.add("Add", exact, sheet.constant(f"{name}.bias", bias))


def _attend(sheet: Sheet, weights: Weights, layer: int, state: str) -> str:
    prefix = f"encoder.layer.{layer}.attention"
    width = weights[f"{prefix}.self.query.weight"].shape[0]
    # The factor of dot-product attention is folded into the query.
    factors = {"query": np.float32(HEAD_WIDTH**-0.5), "key": np.float32(1), "value": np.float32(1)}
    parts = [(weights[f"{prefix}.self.{p}.weight"] * f).T for p, f in factors.items()]
    biases = [weights[f"{prefix}.self.{p}.bias"] * f for p, f in factors.items()]
    merged = np.concatenate(parts, axis=1), np.concatenate(biases)
    joined = _project(sheet, f"{prefix}.joined", *merged, state)
    query, key, value = sheet.add_many("Split", 3, joined, axis=2, num_outputs=3)
    context = _mix(sheet, width, query, key, value)
    matrix, bias = weights[f"{prefix}.output.dense.weight"].T, weights[f"{prefix}.output.dense.bias"]
    out = _project(sheet, f"{prefix}.output", matrix, bias, context)
    summed = sheet.add("Add", out, state)
    return _normalise(sheet, weights, f"{prefix}.output.LayerNorm", summed)


def _mix(sheet: Sheet, width: int, query: str, key: str, value: str) -> str:
    heads = np.array([0, 0, width // HEAD_WIDTH, HEAD_WIDTH])
    split = sheet.constant("heads", heads)
    by_head = [sheet.add("Reshape", part, split) for part in (query, key, value)]
    asked = sheet.add("Transpose", by_head[0], perm=[0, 2, 1, 3])
    known = sheet.add("Transpose", by_head[1], perm=[0, 2, 3, 1])
    given = sheet.add("Transpose", by_head[2], perm=[0, 2, 1, 3])
    share = sheet.add("Softmax", sheet.add("MatMul", asked, known), axis=-1)
    mixed = sheet.add("Transpose", sheet.add("MatMul", share, given), perm=[0, 2, 1, 3])
    return sheet.add("Reshape", mixed, sheet.constant("whole", np.array([0, 0, width])))


def _transform(sheet: Sheet, weights: Weights, layer: int, state: str) -> str:
    prefix = f"encoder.layer.{layer}"
    up, down = f"{prefix}.intermediate.dense", f"{prefix}.output.dense"
    wide = _project(sheet, up, weights[f"{up}.weight"].T, weights[f"{up}.bias"], state)
    bent = sheet.add("Gelu", wide)
    out = _project(sheet, down, weights[f"{down}.weight"].T, weights[f"{down}.bias"], bent)
    summed = sheet.add("Add", out, state)
    return _normalise(sheet, weights, f"{prefix}.output.LayerNorm", summed)


def weights_in(model: onnx.ModelProto) -> dict[str, npt.NDArray[np.float32]]:
    """Read the weights back out of a graph that `minilm` wrote, rounded as they are there."""
    kept = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    words = kept["words"].astype(np.float32) * kept["word_scales"]
    found = {name: np.array(kept[name]) for name in kept if ".LayerNorm." in name}
    found["embeddings.word_embeddings.weight"] = words
    found["embeddings.position_embeddings.weight"] = np.array(kept["positions"])
    # Folded into the positions.
    found["embeddings.token_type_embeddings.weight"] = np.zeros((2, words.shape[1]), np.float32)
    for name in (name.removesuffix(".kernel") for name in kept if name.endswith(".kernel")):
        matrix = (kept[f"{name}.kernel"] * kept[f"{name}.scale"]).T
        found |= _as_trained(name, matrix, kept[f"{name}.bias"])
    return found


def _as_trained(
    name: str, matrix: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]
) -> dict[str, npt.NDArray[np.float32]]:
    if not name.endswith(".joined"):
        dense = name if name.endswith(".dense") else f"{name}.dense"
        return {f"{dense}.weight": np.ascontiguousarray(matrix), f"{dense}.bias": np.array(bias)}
    found: dict[str, npt.NDArray[np.float32]] = {}
    prefix = name.removesuffix("joined") + "self"
    for part, rows, own in zip(
        ("query", "key", "value"), np.split(matrix, 3), np.split(bias, 3), strict=True
    ):
        factor = np.float32(HEAD_WIDTH**0.5 if part == "query" else 1)
        found |= {f"{prefix}.{part}.weight": rows * factor, f"{prefix}.{part}.bias": own * factor}
    return found
