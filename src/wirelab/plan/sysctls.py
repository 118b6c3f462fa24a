"""The sysctls of a host: everything that moves TCP, at Linux's own defaults unless it says why not.

Defaults changed between kernels, and some follow the machine's memory. A result that is to be the
same everywhere needs them all said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.plan.traffic import Iperf3

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirelab.plan.traffic import Item

CONGESTION: Final = "net.ipv4.tcp_congestion_control"
TIMESTAMPS: Final = "net.ipv4.tcp_timestamps"
ECN: Final = "net.ipv4.tcp_ecn"


_OWN_BUFFER_BYTES: Final = 2**21
"""What every kernel of the lab lets a socket have, unasked."""


def socket_buffers(items: Iterable[Item]) -> dict[str, str]:
    """What the largest ``window`` of some traffic needs; nothing where the kernel gives that by itself."""
    windows = (item.window_bytes or 0 for item in items if isinstance(item, Iperf3))
    largest_bytes = max(windows, default=0)
    if largest_bytes <= _OWN_BUFFER_BYTES:
        return {}
    return {f"net.core.{direction}mem_max": str(largest_bytes) for direction in "rw"}


def pinned_sysctls() -> dict[str, str]:
    """Every pinned sysctl, in the kernel's order of names; each exists from Linux 6.1 on."""
    return {
        # One /24 on a handful of cables: IPv6's own chatter would be the only other traffic on them.
        "net.ipv6.conf.all.disable_ipv6": "1",
        "net.ipv6.conf.default.disable_ipv6": "1",
        "net.ipv4.tcp_adv_win_scale": "1",
        "net.ipv4.tcp_app_win": "31",
        "net.ipv4.tcp_autocorking": "1",
        "net.ipv4.tcp_base_mss": "1024",
        "net.ipv4.tcp_comp_sack_delay_ns": "1000000",
        "net.ipv4.tcp_comp_sack_nr": "44",
        "net.ipv4.tcp_comp_sack_slack_ns": "100000",
        CONGESTION: "cubic",
        "net.ipv4.tcp_dsack": "1",
        "net.ipv4.tcp_early_retrans": "3",
        ECN: "2",
        "net.ipv4.tcp_ecn_fallback": "1",
        "net.ipv4.tcp_fastopen": "1",
        "net.ipv4.tcp_frto": "2",
        "net.ipv4.tcp_invalid_ratelimit": "500",
        # 1 MiB until 6.16, 4 MiB since.
        "net.ipv4.tcp_limit_output_bytes": "4194304",
        "net.ipv4.tcp_max_reordering": "300",
        "net.ipv4.tcp_min_rtt_wlen": "300",
        "net.ipv4.tcp_min_snd_mss": "48",
        "net.ipv4.tcp_min_tso_segs": "2",
        "net.ipv4.tcp_moderate_rcvbuf": "1",
        "net.ipv4.tcp_mtu_probe_floor": "48",
        "net.ipv4.tcp_mtu_probing": "0",
        # Not the default: a flow must not start from what an earlier one learned of the path.
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_no_ssthresh_metrics_save": "1",
        "net.ipv4.tcp_notsent_lowat": "4294967295",
        "net.ipv4.tcp_orphan_retries": "0",
        "net.ipv4.tcp_pacing_ca_ratio": "120",
        "net.ipv4.tcp_pacing_ss_ratio": "200",
        "net.ipv4.tcp_recovery": "1",
        "net.ipv4.tcp_reflect_tos": "0",
        "net.ipv4.tcp_reordering": "3",
        "net.ipv4.tcp_retrans_collapse": "1",
        "net.ipv4.tcp_retries1": "3",
        "net.ipv4.tcp_retries2": "15",
        # The largest windows are 6.16's default for receiving, on both sides: enough for 10 Gbit/s
        # over 25 ms. The kernel's own largest for sending follows the machine's memory.
        "net.ipv4.tcp_rmem": "4096 131072 33554432",
        "net.ipv4.tcp_sack": "1",
        "net.ipv4.tcp_slow_start_after_idle": "1",
        "net.ipv4.tcp_syn_retries": "6",
        "net.ipv4.tcp_synack_retries": "5",
        "net.ipv4.tcp_thin_linear_timeouts": "0",
        TIMESTAMPS: "1",
        "net.ipv4.tcp_tso_rtt_log": "9",
        "net.ipv4.tcp_tso_win_divisor": "3",
        "net.ipv4.tcp_window_scaling": "1",
        "net.ipv4.tcp_wmem": "4096 16384 33554432",
        "net.ipv4.tcp_workaround_signed_windows": "0",
    }
