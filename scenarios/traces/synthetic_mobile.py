"""Makes `synthetic-mobile.trace`: python3 synthetic_mobile.py > synthetic-mobile.trace.

Nobody has measured this: it is made up, to be short and to have one of each. A millisecond is a turn in which
a base station may serve this phone with up to four packets, each of them by chance, in the mean so many.
"""

import random

SEED = 13
PACKETS_A_TURN = 4
PARTS = (
    # until which millisecond, packets in a millisecond: 1 is 12.032 Mbit/s
    (4000, 1.0),
    (6000, 0.2),
    (6500, 0.0),
    (10000, 2.0),
)


def lines() -> list[str]:
    """The file: what it is, then a line for each packet that may pass, with its millisecond."""
    chance = random.Random(SEED)  # noqa: S311 - a draw that must repeat
    ends_ms = [0, *(end_ms for end_ms, _ in PARTS)]
    turns_ms = [
        ms
        for begin_ms, (end_ms, mean) in zip(ends_ms, PARTS, strict=False)
        for ms in range(begin_ms, end_ms)
        for _ in range(PACKETS_A_TURN)
        if chance.random() < mean / PACKETS_A_TURN
    ]
    # The last line says how long it takes.
    told = ["# Synthetic: made by synthetic_mobile.py, nobody measured it (provenance: assumed)."]
    return [*told, *map(str, (*turns_ms, ends_ms[-1]))]


if __name__ == "__main__":
    print("\n".join(lines()))  # noqa: T201 - it writes what it makes
