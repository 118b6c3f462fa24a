"""Inside the lab: how long a frame is under way between two ports with the same bus and the same CPU.

Arguments: settings of both, `bus_bps=1000000` for example. Prints that, and which of them were out of range.
"""

import errno
import json
import sys
import time

from inside import DATA, data_frame, make_pair, packet_socket, raise_ports, setting


def is_taken(name: str, value: str) -> bool:
    """Whether both ports do as they are told."""
    try:
        for port in ("p1", "p2"):
            setting(port, name, value)
    except OSError as error:
        if error.errno != errno.ERANGE:
            raise
        return False
    return True


def main() -> None:
    """See above."""
    make_pair()
    refused = [text for text in sys.argv[1:] if not is_taken(*text.split("="))]
    raise_ports("p1", "p2")
    time.sleep(2)
    out, into = packet_socket("p1"), packet_socket("p2", DATA)
    sent_ns = time.monotonic_ns()
    out.send(data_frame())
    into.recv(1514)
    print(json.dumps({"refused": refused, "took_ns": time.monotonic_ns() - sent_ns}))


main()
