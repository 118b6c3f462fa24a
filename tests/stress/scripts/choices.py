"""What a port may be set to at random, and what lets it come to rest."""

from __future__ import annotations

SPEEDS = (10, 100, 1000, 2500, 5000, 10000, 25000)
QDISCS = (
    *("bfifo limit 20000", "pfifo limit 50", "fq_codel", "fq", "cake", "etherfifo", "pfifo_fast", "prio"),
    *("netem delay 1ms loss 1%", "tbf rate 50mbit burst 10k latency 5ms", "mq", "noqueue"),
)
NUMBERS = {
    "cable_delay_ns": 10**6,
    "bits_per_error": 10**7,
    "forward_latency_ns": 10**6,
    "autoneg_ms": 20,
    "capture_frame_ns": 10**4,
    "capture_backlog_bytes": 10**6,
    "capture_bytes_per_s": 10**8,
    "buffer_bytes": 10**6,
    "buffer_cell_bytes": 512,
    "xoff_bytes": 10**6,
    "xon_bytes": 10**5,
    "queue_limit_bytes": 10**5,
    "queue_alpha_128ths": 512,
    "xoff_alpha_128ths": 512,
    "pause_quanta": 2**16 - 1,
    "pause_reaction_ns": 10**5,
    "pool": 3,
    "pool_bytes": 10**6,
    "bus_bps": 10**10,
    "bus_payload_bytes": 4096,
    "bus_overhead_bytes": 100,
    "bus_frame_bytes": 100,
    "cpu": 3,
    "cpu_rx_frame_ns": 10**4,
    "cpu_rx_byte_ps": 10**4,
    "cpu_tx_frame_ns": 10**4,
    "cpu_tx_byte_ps": 10**4,
    "gro_flush_timeout": 10**5,
    "napi_defer_hard_irqs": 3,
}
"""Files of a port, and the most that is written there: what is under way is over when it is added up."""
OF_THE_STACK = ("gro_flush_timeout", "napi_defer_hard_irqs")
WORDS = {
    "role": ("host", "forward", "through", "repeat"),
    "rx_moderation": ("first", "last", "interval"),
    "rx_adaptive": ("none", "ixgbe", "igb", "e1000", "dim"),
    "follow": ("", "p1", "p5", "p10"),
}
CALM = (
    *("rx-usecs", "0", "rx-frames", "0", "tx-usecs", "0", "tx-frames", "0"),
    *("adaptive-rx", "off", "adaptive-tx", "off"),
)
