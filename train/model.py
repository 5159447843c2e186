"""MiniLM in torch, with the parameter names of its published weights. Needs torch."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

HEAD_WIDTH = 32


class MiniLM(nn.Module):
    """Encode padded token ids [texts, tokens] as vectors of length 1."""

    def __init__(self, vocabulary: int, width: int, inner: int, layers: int, places: int = 512) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(vocabulary, width),
                "position_embeddings": nn.Embedding(places, width),
                "token_type_embeddings": nn.Embedding(2, width),
                "LayerNorm": nn.LayerNorm(width, eps=1e-12),
            }
        )
        stack = nn.ModuleList(Layer(width, inner) for _ in range(layers))
        self.encoder = nn.ModuleDict({"layer": stack})
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return functional.normalize(self.seen(ids, mask).float(), dim=1)

    def seen(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The mean of what it makes of each token."""
        parts = self.embeddings
        state = parts["word_embeddings"](ids) + parts["token_type_embeddings"].weight[0]
        state = state + parts["position_embeddings"].weight[: ids.shape[1]]
        state = self.dropout(parts["LayerNorm"](state))
        for layer in self.encoder["layer"]:
            state = layer(state, mask[:, None, None, :])
        shares = mask / mask.sum(1, keepdim=True)
        seen: Tensor = (state * shares[:, :, None]).sum(1)
        return seen


class Layer(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        parts = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
        out = _dense_and_norm(width, width)
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(parts), "output": out})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = _dense_and_norm(inner, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        inside, out = self.attention["self"], self.attention["output"]
        heads = [_by_head(inside[name](state)) for name in ("query", "key", "value")]
        share = 0.1 if self.training else 0.0
        context = functional.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=share)
        context = context.transpose(1, 2).flatten(2)
        state = out["LayerNorm"](state + self.dropout(out["dense"](context)))
        wide = functional.gelu(self.intermediate["dense"](state))
        return self.output["LayerNorm"](state + self.dropout(self.output["dense"](wide)))


def _dense_and_norm(inner: int, width: int) -> nn.ModuleDict:
    parts = {"dense": nn.Linear(inner, width), "LayerNorm": nn.LayerNorm(width, eps=1e-12)}
    return nn.ModuleDict(parts)


def _by_head(state: Tensor) -> Tensor:
    return state.unflatten(2, (-1, HEAD_WIDTH)).transpose(1, 2)


def build(weights: Mapping[str, Tensor], layers: Sequence[int] | None = None) -> MiniLM:
    """Make a model of the weights' shape, of all its layers or of those named."""
    stacked = {int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")}
    kept = sorted(stacked) if layers is None else list(layers)
    vocabulary, width = weights["embeddings.word_embeddings.weight"].shape
    places = weights["embeddings.position_embeddings.weight"].shape[0]
    inner = weights[f"encoder.layer.{kept[0]}.intermediate.dense.weight"].shape[0]
    model = MiniLM(vocabulary, width, inner, len(kept), places)
    model.load_state_dict(dict(_renumbered(weights, kept)))
    return model


def _renumbered(weights: Mapping[str, Tensor], kept: Sequence[int]) -> list[tuple[str, Tensor]]:
    chosen = [(n, w.float()) for n, w in weights.items() if n.startswith("embeddings.")]
    chosen = [(name, weight) for name, weight in chosen if not name.endswith("position_ids")]
    for new, old in enumerate(kept):
        start = f"encoder.layer.{old}."
        inside = [(n.removeprefix(start), w) for n, w in weights.items() if n.startswith(start)]
        chosen += [(f"encoder.layer.{new}.{name}", weight.float()) for name, weight in inside]
    return chosen


def load(path: Path) -> MiniLM:
    return build(load_file(path))


def save(model: MiniLM, path: Path) -> None:
    """Write the weights in half precision, which loses less than the int8 they become."""
    path.parent.mkdir(parents=True, exist_ok=True)
    halves = {name: weight.detach().half().cpu() for name, weight in model.state_dict().items()}
    save_file({name: weight.contiguous() for name, weight in halves.items()}, path)


def pick_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
