"""Why a frame is lost at a port, in words, by what counts it in the driver (kernel/driver/counters.h)."""

from collections.abc import Mapping
from typing import Final

PLACES: Final[Mapping[int, str]] = {
    2: "tx_lost_frames",
    3: "tx_dropped_down",
    4: "tx_dropped_error",
    5: "tx_dropped_collisions",
    20: "rx_dropped_buffer",
    21: "rx_dropped_pool",
    22: "rx_dropped_oversize",
    23: "rx_dropped_down",
    24: "rx_dropped_error",
    25: "rx_dropped_collision",
    26: "rx_dropped_fcs",
    27: "rx_damaged_control_frames",
}
"""The counters of lost frames, by their place in the driver's, which is what a record tells."""

WORDS: Final[Mapping[str, str]] = {
    "tx_lost_frames": "on the cable when it was pulled out",
    "tx_dropped_down": "no link",
    "tx_dropped_error": "no memory, or impossible to segment",
    "tx_dropped_collisions": "given up after 16 collisions or a late one",
    "rx_dropped_buffer": "packet buffer",
    "rx_dropped_pool": "shared packet memory",
    "rx_dropped_oversize": "longer than the MTU allows",
    "rx_dropped_down": "port down",
    "rx_dropped_error": "no memory",
    "rx_dropped_collision": "damaged by a collision",
    "rx_dropped_fcs": "damaged by bit errors",
    "rx_damaged_control_frames": "damaged MAC control frame",
}
"""Of what had no room it is where there was none; who says so adds how much that has."""
