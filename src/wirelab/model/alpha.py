"""Alpha: the share of a switch's free memory that one queue, or what came by one port, may have."""

from fractions import Fraction
from typing import Final

_SHARES: Final = tuple(Fraction(2) ** power for power in range(-7, 4))


def read_alpha(value: object) -> str:
    """A share as switches know them, ``1/128``, ``1/64`` .. ``8``. Raises ValueError for anything else."""
    try:
        share = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if share not in _SHARES:
        raise ValueError(f"`{value}` is no alpha, which is a power of two: {', '.join(map(str, _SHARES))}")
    return str(share)
