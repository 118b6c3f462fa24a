"""What a receiver of UDP counts: what has come, and what is missing, at the end of each of its seconds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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


def sent_and_lost(client: Field, server: Field) -> tuple[int, int]:
    """The datagrams of a flow. Of those after the last one that came, only the sender knows.

    Raises LabError when an end does not tell them.
    """
    received = server["end"]["sum_received"]
    known, lost = received["packets"].integer(), received["lost_packets"].integer()
    sent = max(client["end"]["sum_sent"]["packets"].integer(), known)
    return sent, lost + sent - known


def parse_received(client: Field, server: Field) -> tuple[Received, ...]:
    """The end of each interval of iperf3's server. Raises LabError when one is incomplete."""
    counted = [Received(0, 0, 0, 0)]
    for interval in server["intervals"].elements():
        total, before = interval["sum"], counted[-1]
        counted.append(
            Received(
                _ns(total["end"]),
                before.payload_bytes + total["bytes"].integer(),
                before.sent_datagrams + total["packets"].integer(),
                # Fewer than none where those come late that were missing in the second before.
                before.lost_datagrams + total["lost_packets"].signed(),
            )
        )
    sent, _ = sent_and_lost(client, server)
    return _with_the_last(counted, client, sent) if sent > counted[-1].sent_datagrams else tuple(counted)


def _with_the_last(counted: list[Received], client: Field, sent: int) -> tuple[Received, ...]:
    """The same where some were sent after the last one that came, which the receiver does not count.

    From the end of the interval of that one on, all that was sent and has not come is lost.
    """
    left = [(0, 0)]
    for interval in client["intervals"].elements():
        total = interval["sum"]
        left.append((_ns(total["end"]), left[-1][1] + total["packets"].integer()))
    came = [one.sent_datagrams - one.lost_datagrams for one in counted]
    last = came.index(came[-1])
    mended = counted[:last]
    for one in counted[last:]:
        sent_until = min(max(round(at(left, one.after_ns)), one.sent_datagrams), sent)
        mended.append(replace(one, sent_datagrams=sent_until, lost_datagrams=sent_until - came[-1]))
    # The receiver may have had no second more for them.
    until_ns = max(left[-1][0], counted[-1].after_ns + 1)
    return (
        *mended,
        replace(mended[-1], after_ns=until_ns, sent_datagrams=sent, lost_datagrams=sent - came[-1]),
    )


def _ns(seconds: Field) -> int:
    return round(seconds.number() * NS_PER_S)


def received_until_ns(flow: Flow, received: Sequence[Received]) -> int:
    """When a flow was over: a transfer as soon as its receiver has nothing more to tell."""
    if flow.size_bytes is None or not received:
        return flow.end_ns
    return min(flow.start_ns + received[-1].after_ns, flow.end_ns)


def received_in_window(
    metric: str, flow: Flow, received: Sequence[Received], from_ns: int, to_ns: int
) -> float | None:
    """A metric of a flow over UDP between two instants of the Plan; None where nothing tells it.

    The receiver's time begins when both ends have agreed, some round trips after the flow's.
    Raises KeyError for a metric that a window does not have.
    """
    if len(received) <= 1:
        return None
    from_ns, to_ns = (
        max(from_ns, flow.start_ns) - flow.start_ns,
        min(to_ns, received_until_ns(flow, received)) - flow.start_ns,
    )
    if from_ns >= to_ns:
        return None
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
