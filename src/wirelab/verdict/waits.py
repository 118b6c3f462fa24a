"""How long frames in an egress queue wait: they are on the line with all that is around them."""

from wirelab.model import ethernet
from wirelab.plan.path import Hop
from wirelab.plan.traffic import Flow
from wirelab.results.counters import PortCounters
from wirelab.results.result import Result
from wirelab.results.rtt import percentiles
from wirelab.units import BITS_PER_BYTE, NS_PER_S, SIZE, TIME, rounded


def wait_ns(queue_bytes: float, hop: Hop, sent: PortCounters) -> float:
    """How long so many bytes of a queue take to leave, their frames as long as those ``sent`` in the mean.

    On a line a frame takes its preamble, FCS and gap, too; at a shaper what that counts of it.
    """
    frames = sent["tx_frames"]
    if not frames:
        return queue_bytes * BITS_PER_BYTE * NS_PER_S / hop.served_bps
    frame_bytes = sent["tx_bytes"] / frames
    shaper = hop.out.shaper
    if shaper is not None and shaper.rate_bps < hop.rate_bps:
        taken_bytes = max(frame_bytes + shaper.overhead_bytes, shaper.least_bytes)
    else:
        taken_bytes = max(frame_bytes + hop.tag_bytes, ethernet.MIN_FRAME_BYTES) + ethernet.OVERHEAD_BYTES
    return queue_bytes * taken_bytes / frame_bytes * BITS_PER_BYTE * NS_PER_S / hop.served_bps


def waiting(hop: Hop, flow: Flow, result: Result) -> list[str]:
    """What waited for a line, in the median of the samples."""
    queues = [
        sample.ports[hop.out.name].queue_bytes
        for sample in result.samples
        if flow.start_ns <= sample.at_ns < flow.end_ns
    ]
    if not queues or not (median := percentiles(queues)[0]):
        return []
    waited_ns = wait_ns(median, hop, result.change(hop.out.name, flow.name))
    return [f"in the median {rounded(median, SIZE)} waited for it, for {rounded(waited_ns, TIME)}"]
