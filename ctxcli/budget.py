"""The window of a model, what the output reserve leaves of it, and its shares by layer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctxcli.errors import SettingError
from ctxcli.model import Layer, Transcript

DEFAULT_RESERVE = 32_000
"""Tokens kept free for the answer: the largest answer that coding agents ask for by default."""

DEFAULT_TRIGGER = 0.75
"""Share of the usable window above which a context is compacted: within the 70 to 80 % that agents leave room at."""

DEFAULT_HISTORY_SHARE = 0.4
"""Of what system prompt and tools leave of the usable window; retrieved text gets the rest."""


@dataclass(frozen=True, slots=True)
class ModelWindow:
    """What a model takes: context and answer in tokens."""

    context: int
    output: int
    input_only: bool = False
    """True where `context` is the limit of the input alone, beside the answer."""


# Checked in order against the model's bare name. Figures: the providers' model pages, as collected
# in LiteLLM 1.110 (MIT, November 2026).
_WINDOWS: tuple[tuple[str, ModelWindow], ...] = (
    (r"claude.*\[1m\]", ModelWindow(1_000_000, 64_000)),
    (r"claude-(opus|sonnet)-4-[6-9]", ModelWindow(1_000_000, 128_000)),
    (r"claude-((opus|sonnet|haiku)-[5-9]|fable|mythos)", ModelWindow(1_000_000, 128_000)),
    (r"claude-(opus|sonnet|haiku)-4-5", ModelWindow(200_000, 64_000)),
    (r"claude-sonnet-4", ModelWindow(200_000, 64_000)),
    (r"claude-opus-4", ModelWindow(200_000, 32_000)),
    (r"claude-3-7", ModelWindow(200_000, 64_000)),
    (r"claude-3", ModelWindow(200_000, 8_192)),
    (r"gpt-5(\.\d+)?-chat", ModelWindow(128_000, 16_384)),
    (r"gpt-5\.[45](-pro)?(-20|$)", ModelWindow(1_050_000, 128_000)),
    (r"gpt-(5\.6|6)", ModelWindow(922_000, 128_000, input_only=True)),
    (r"gpt-5", ModelWindow(272_000, 128_000, input_only=True)),
    (r"gpt-4\.1", ModelWindow(1_047_576, 32_768)),
    (r"(chatgpt-)?gpt-?4o|chatgpt-4o", ModelWindow(128_000, 16_384)),
    (r"gpt-4-(turbo|1106|0125)", ModelWindow(128_000, 4_096)),
    (r"gpt-4-32k", ModelWindow(32_768, 4_096)),
    (r"gpt-4(-0|$)", ModelWindow(8_192, 4_096)),
    (r"gpt-3\.5-turbo", ModelWindow(16_385, 4_096)),
    (r"o[134](-mini|-pro)?(-20|-deep|$)", ModelWindow(200_000, 100_000)),
    (r"gemini-(1\.5-pro)", ModelWindow(2_097_152, 8_192)),
    (r"gemini-(1\.5|2|3|4|flash|pro)", ModelWindow(1_048_576, 65_536)),
    (r"deepseek-(v4|flash)", ModelWindow(1_000_000, 393_216)),
    (r"deepseek-(chat|reasoner)", ModelWindow(131_072, 8_192)),
)  # fmt: skip


def model_window(model: str) -> ModelWindow | None:
    """The window of a model by its name, with or without a provider before it; None where it is not known."""
    bare = model.lower().rsplit("/", 1)[-1].removeprefix("us.").removeprefix("eu.").removeprefix("anthropic.")
    for pattern, window in _WINDOWS:
        if re.match(pattern, bare):
            return window
    return None


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user set: window, reserve, shares by layer (0 to 1, of what system and tools leave)."""

    max_context: int | None = None
    max_context_origin: str = "flag"
    reserve_output: int | None = None
    shares: Mapping[Layer, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usable:
    """A window with its reserve taken off; None where no window is known."""

    max_context: int | None
    origin: str
    reserve: int
    usable: int | None


def usable_window(
    limits: Limits, models: Sequence[str], recorded: int | None, *, recorded_is_usable: bool = False
) -> Usable:
    """The window by flag or settings, else as the transcript records it, else by the model table.

    A window that the transcript gives as what the agent may fill, or that is an input limit, has no
    reserve taken off unless the user sets one. Otherwise the reserve is 32,000 tokens, or the
    model's longest answer or a quarter of the window where that is less.
    """
    known = next((window for window in map(model_window, models) if window is not None), None)
    if limits.max_context is not None:
        window, origin, free = limits.max_context, limits.max_context_origin, False
    elif recorded is not None:
        window, origin, free = recorded, "transcript", recorded_is_usable
    elif known is not None:
        window, origin, free = known.context, "model", known.input_only
    else:
        return Usable(None, "unknown", limits.reserve_output or 0, None)
    reserve = limits.reserve_output
    if reserve is not None and reserve >= window:
        raise SettingError(f"an output reserve of {reserve:,} tokens leaves nothing of a window of {window:,}")
    if reserve is None:
        most = known.output if known is not None else DEFAULT_RESERVE
        reserve = 0 if free else min(DEFAULT_RESERVE, most, window // 4)
    return Usable(window, origin, reserve, max(0, window - reserve))


def usable_in(transcript: Transcript, limits: Limits) -> Usable:
    """The window of a transcript: as the user set it, as it records it, or as that of the models that answered."""
    return usable_window(
        limits, transcript.models, transcript.window, recorded_is_usable=transcript.window_is_usable
    )  # fmt: skip


def quotas(usable: int | None, fixed: int, shares: Mapping[Layer, float]) -> dict[Layer, int | None]:
    """The quota of each layer in tokens; None for one without.

    `fixed` is what system prompt and tool definitions take, hidden ones included. Unless a share is
    set, history gets 40 % of what they leave and retrieved text what the others leave of it.
    """
    found: dict[Layer, int | None] = dict.fromkeys(Layer)
    if sum(shares.values()) > 1:
        raise SettingError(f"the shares of the layers come to {sum(shares.values()):.0%}, more than there is")
    if usable is None:
        return found
    left = max(0, usable - fixed)
    wanted = {Layer.HISTORY: min(DEFAULT_HISTORY_SHARE, 1 - sum(shares.values())), **shares}
    for layer, share in wanted.items():
        found[layer] = int(left * share)
    if Layer.RETRIEVED not in shares:
        taken = sum(share for layer, share in wanted.items() if layer not in (Layer.SYSTEM, Layer.TOOLS))
        found[Layer.RETRIEVED] = int(left * max(0.0, 1 - taken))
    return found
