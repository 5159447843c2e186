"""Let a model feel, while it learns, that its numbers will be rounded to 8 bits. Needs torch.

Forward, weights and activations are rounded as `train.graph` will round them; backward, as if they
were not. The weights that are learned stay unrounded.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

WEIGHT_STEPS, STATE_STEPS = 127, 255


class RoundedRows(nn.Module):
    """Round a weight with one scale for each output."""

    def forward(self, weight: Tensor) -> Tensor:
        scale = weight.detach().abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / WEIGHT_STEPS
        return weight + (torch.round(weight.detach() / scale) * scale - weight.detach())


def rounded_states(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
    """Round what enters a layer, with one scale for each text."""
    (state,) = inputs
    seen = state.detach().float()
    low = seen.amin(dim=(1, 2), keepdim=True).clamp_max(0)
    high = seen.amax(dim=(1, 2), keepdim=True).clamp_min(0)
    scale = (high - low).clamp_min(1e-12) / STATE_STEPS
    return (state + (torch.round(seen / scale) * scale - seen).to(state.dtype),)


@contextmanager
def rounding(model: nn.Module) -> Iterator[None]:
    """Round in every dense layer of the model, until the end."""
    dense = [part for part in model.modules() if isinstance(part, nn.Linear)]
    hooks = [part.register_forward_pre_hook(rounded_states) for part in dense]
    for part in dense:
        parametrize.register_parametrization(part, "weight", RoundedRows())
    try:
        yield
    finally:
        for hook, part in zip(hooks, dense, strict=True):
            hook.remove()
            parametrize.remove_parametrizations(part, "weight", leave_parametrized=False)
