"""What the story of each scenario says bounds its flows: the mechanism, by scenario, variant and flow.

``*`` stands for every variant, or every flow, that is not named. Of "queue or line" each is some flow's:
which of eight flows on one line lose their last frames to its queue is chance.
"""

from __future__ import annotations

from typing import Final

Stories = dict[str, dict[str, dict[str, str]]]

LINE: Final = {"*": "line"}
FIFO: Final = {"*": "FIFO"}
CPU: Final = {"*": "CPU"}
QUEUE_OR_LINE: Final = {"*": "queue or line"}

STORIES: Final[Stories] = {
    "antivirus-laptop": {"security-on": CPU, "*": LINE},
    # The uploads' line is full, and the acknowledgements of the download have to pass it.
    "asymmetric-line": {"*": LINE},
    "back-at-100m": {"the-wires-hold": {"*": "loss"}, "*": LINE},
    "backup-pipeline": {"*": {"*": "application"}},
    "bbr-and-cubic": {"bbr-in-small-bursts": LINE, "*": FIFO},
    "bond-takes-over": {"at-once": LINE, "after-100-ms": LINE, "*": {"*": "loss"}},
    "bufferbloat": {"*": LINE},
    "clean-10g": {"*": LINE},
    "dirty-connector": {
        "another-town": {"file": "loss", "datagrams": "application"},
        "*": {"file": "line", "datagrams": "application"},
    },
    "driver-bound": {"main": CPU, "*": LINE},
    "dynamic-thresholds": {"a-hundred-packets": QUEUE_OR_LINE, "a-sixty-fourth": QUEUE_OR_LINE, "*": LINE},
    "ecn": {"*": LINE},
    "ecn-threshold": {"*": LINE},
    "faster-later": {"*": LINE},
    "firewall-rules": {"thousand-rules": CPU, "home-router": CPU, "*": LINE},
    "flapping-cable": {"a-cable-that-stays": LINE, "*": {"*": "loss"}},
    # Of nt4-to-sun4 the story says half duplex; the counters say that the CPU of `left` was busy all the
    # time, and the medium was not. What a frame costs that machine was fitted to the row: it bounds the flow.
    "ftp-2001": {"ultra1-to-sun4": LINE, "a-faster-machine": LINE, "*": CPU},
    "ftp-2001-firewall": {"*": CPU},
    "home-line": {"*": LINE},
    # Who gets through without a timeout, by chance, has the line; who waits for one lost in the queue.
    "incast": {"short-queue": QUEUE_OR_LINE, "nobody-says-stop": QUEUE_OR_LINE, "*": LINE},
    "internet-rtt": {"module-with-pause": LINE, "*": FIFO},
    "internet-speedtest": {"a-queue-for-a-round-trip": LINE, "*": {"*": "queue"}},
    "jumbo-frames": {"cpu-1500": CPU, "a-switch-left-behind": {"*": "loss"}, "*": LINE},
    # A connection stays on one cable, and either may be the one.
    "lacp-hash": {"*": LINE},
    # Of UDP it is the socket's buffer: what was sent counts until the card says so.
    "late-completions": {"after-4-ms": {"stream": "window", "*": "line"}, "*": LINE},
    "mobile-trace": {"*": LINE},
    # The disk that the capture is written to sets the pace from the third second on.
    "observed-client": {"main": {"*": "storage"}, "*": FIFO},
    "pacing": {"*": FIFO},
    "parking-lot": {"*": LINE},
    "pause-collateral": {"main": {"beside": "pause", "*": "line"}, "*": LINE},
    "pause-headroom": {"*": LINE},
    "pcie-x1": {"x1": {"*": "bus"}, "*": LINE},
    "pfc-and-pause": {
        "pause": {"beside": "pause", "*": "line"},
        "one-priority-for-all": {"beside": "pause", "*": "line"},
        "*": LINE,
    },
    "policer": {"policed": {"*": "loss"}, "a-policer-in-its-place": {"*": "loss"}, "*": LINE},
    "sfp-flow-control": {"deaf-switch": {"upload": "line", "download": "FIFO"}, "*": LINE},
    "sfp-flow-control-off": {"main": FIFO, "*": LINE},
    "sfp-mismatch": {"main": {"upload": "line", "download": "FIFO"}, "*": LINE},
    "sfp-native-2g5": {"*": LINE},
    "sfp-siblings": {"a-module-that-says-stop": LINE, "*": FIFO},
    "slow-bus-5g": {"pcie-x1": {"*": "bus"}, "usb-3": {"*": "bus"}, "*": LINE},
    "storage-raid": {"flash": LINE, "an-old-cable": LINE, "*": {"*": "storage"}},
    "udp-and-tcp": {
        "main": {"datagrams": "application", "stream": "FIFO"},
        "*": {"datagrams": "application", "stream": "line"},
    },
    "vlan-trunk": {"*": {"guests": "application", "*": "line"}},
    "wifi-11ac": {"main": CPU, "*": LINE},
}


def told(scenario: str, variant: str, flow: str) -> frozenset[str]:
    """The mechanisms that a story names, one or several. Raises KeyError for what no story is told of."""
    variants = STORIES[scenario]
    flows = variants.get(variant) or variants["*"]
    return frozenset((flows.get(flow) or flows["*"]).split(" or "))
