"""What a receiver of UDP counts: what has come, and what is missing, at the end of each of its seconds."""

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.plan.traffic import Flow
from wirelab.results.counting import at
from wirelab.results.rawjson import Field
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PPM


@dataclass(frozen=True, slots=True)
class Received:
    """What the receiver of a flow had counted ``after_ns`` of its own time."""

    after_ns: int
    payload_bytes: int
    sent_datagrams: int
    lost_datagrams: int


def parse_received(server: Field) -> tuple[Received, ...]:
    """The end of each interval of iperf3's server. Raises LabError when one is incomplete."""
    counted = [Received(0, 0, 0, 0)]
    for interval in server["intervals"].elements():
        total, before = interval["sum"], counted[-1]
        counted.append(
            Received(
                round(total["end"].number() * NS_PER_S),
                before.payload_bytes + total["bytes"].integer(),
                before.sent_datagrams + total["packets"].integer(),
                # Fewer than none where those come late that were missing in the second before.
                before.lost_datagrams + total["lost_packets"].signed(),
            )
        )
    return tuple(counted)


def received_in_window(
    metric: str, flow: Flow, received: Sequence[Received], from_ns: int, to_ns: int
) -> float | None:
    """A metric of a flow over UDP between two instants of the Plan; None where nothing tells it.

    The receiver's time begins when both ends have agreed, some round trips after the flow's.
    Raises KeyError for a metric that a window does not have.
    """
    if len(received) <= 1:
        return None
    from_ns, to_ns = max(from_ns, flow.start_ns) - flow.start_ns, min(to_ns, flow.end_ns) - flow.start_ns
    payload, sent, lost = (
        at(counted, to_ns) - at(counted, from_ns)
        for counted in (
            [(one.after_ns, one.payload_bytes) for one in received],
            [(one.after_ns, one.sent_datagrams) for one in received],
            [(one.after_ns, one.lost_datagrams) for one in received],
        )
    )
    figures = {
        "goodput": payload * BITS_PER_BYTE * NS_PER_S / (to_ns - from_ns),
        "lost": lost * PPM / sent if sent else None,
    }
    return figures[metric]
