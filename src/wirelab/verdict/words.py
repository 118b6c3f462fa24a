"""Counts as the sentences have them."""

from wirelab.units import COUNT, rounded


def count_of(things: int) -> str:
    """``15 980``."""
    return rounded(things, COUNT)


def frames_were(count: int) -> str:
    """``1 frame was``, ``15 980 frames were``."""
    return "1 frame was" if count == 1 else f"{count_of(count)} frames were"
