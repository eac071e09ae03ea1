"""The order of documents in a context: the best where models read best, at the two ends."""

from collections.abc import Sequence

MOST = 20
"""Documents that are kept by default: beyond that answers get no better, and the context only longer."""


def ordered(scores: Sequence[float], most: int = MOST) -> list[int]:
    """Indices of the best `most`, in the order in which they go into a context.

    The best stands first, the second best last, the third second, the fourth last but one, and so on: the worst comes
    to stand in the middle, which models read least (Liu et al. 2023, https://arxiv.org/abs/2307.03172). Of equals the
    one that came first counts as the better.
    """
    ranked = sorted(range(len(scores)), key=lambda index: -scores[index])[:most]
    return ranked[::2] + ranked[1::2][::-1]
