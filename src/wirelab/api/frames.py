"""The frames that a record has of some ports, as a table."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from wirelab.api.tables import pandas
from wirelab.errors import InputError
from wirelab.plan.types import Port
from wirelab.report.capture import DROPPED, Packet, packets
from wirelab.results.headers import read_headers
from wirelab.results.record import Event, Frame
from wirelab.units import NS_PER_S, PS_PER_NS

if TYPE_CHECKING:  # pandas is an extra, imported when a table is asked for
    import pandas as pd

_FIRST_DROP: Final = re.compile(r"\s*first\s+drop\s*(?P<around>(?:\+-|±).+)")
_WHAT: Final = {"outbound": "sent", "inbound": "received"}
_TYPES: Final = {
    **dict.fromkeys(("at_ns", "frame", "length_bytes"), "int64"),
    # A figure that a frame has not is no 0, and one that it has is no fraction.
    **dict.fromkeys(
        ("vlan", "source_port", "destination_port", "sequence", "acknowledgement", "payload_bytes"), "Int64"
    ),
}
_COLUMNS: Final = (
    *("at_ns", "port", "what", "frame", "length_bytes", "vlan", "protocol", "source", "destination"),
    *("source_port", "destination_port", "sequence", "acknowledgement", "flags", "payload_bytes", "why"),
)


def window_at(port: str, window: str) -> str:
    """The window in the words of ``wirelab capture``: ``first drop ± 1 ms`` is that of ``port``."""
    first = _FIRST_DROP.fullmatch(window)
    return f"first {port}.drops {first['around']}" if first else window


def frame_table(record: Iterable[Frame | Event], ports: Mapping[str, Port], ready_ns: int) -> "pd.DataFrame":
    """What a record has of some ports, by interface name, in the order of time, with the headers told last.

    Raises InputError where the record was as long as it may be.
    """
    rows = list(_rows(record, ports, ready_ns))
    table: pd.DataFrame = pandas().DataFrame(rows, columns=list(_COLUMNS))
    return table.astype(_TYPES)


def _rows(
    record: Iterable[Frame | Event], ports: Mapping[str, Port], ready_ns: int
) -> Iterator[dict[str, Any]]:
    for packet in packets(record, ports):
        at_ns = packet.event.at_ps // PS_PER_NS - ready_ns
        if packet.frame is None:
            raise InputError(
                f"the record is as long as it may be at {at_ns / NS_PER_S:.6f} s: ask for less than that"
            )
        if at_ns >= 0:
            port = ports[packet.event.port].label
            yield {"at_ns": at_ns, "port": port, **_row(packet, packet.frame)}


def _row(packet: Packet, frame: Frame) -> dict[str, Any]:
    headers = read_headers(frame.headers)
    is_dropped = packet.comment.startswith(DROPPED)
    return {
        "what": "dropped" if is_dropped else _WHAT[packet.direction],
        "frame": frame.number,
        "length_bytes": frame.length_bytes,
        **(asdict(headers) if headers else {}),
        # Of several tags that of the network it is in now.
        "vlan": headers.vlans[0] if headers and headers.vlans else None,
        "why": packet.comment.removeprefix(DROPPED),
    }
