"""Inside the lab: when a sender is let off what it has sent.

Arguments: Mbit/s, how many frames, then settings of the sending port: `rx_moderation=interval` is a file of
its own, `tx-usecs=20` an option of `ethtool -C`, `tx=4` one of `ethtool -G`. Frames leave 1 ms apart; prints
whether the sender was still charged for any after each, and how long it was for a single one. Then the
port gets a frame, and at last it goes down: whether that lets the sender off what it sent before.
"""

import json
import socket
import sys
import time

from inside import charged, data_frame, make_pair, packet_socket, raise_ports, run, setting

LONGEST_S = 0.01


def wait(sender: socket.socket) -> int | None:
    """How long until it is charged for nothing, or None if that takes too long."""
    begun_ns = time.monotonic_ns()
    while time.monotonic_ns() < begun_ns + LONGEST_S * 1e9:
        if not charged(sender):
            return time.monotonic_ns() - begun_ns
    return None


def main() -> None:
    """See above."""
    speed, count, *settings = sys.argv[1:]
    make_pair(speed_mbps=int(speed))
    for name, _, value in (text.partition("=") for text in settings):
        if "_" in name:
            setting("p1", name, value)
        else:
            run("ethtool", "-G" if name == "tx" else "-C", "p1", name, value)
    raise_ports("p1", "p2")
    time.sleep(2)
    # By no queue: until it has heard of one, the stack has no more than one in the card (BQL).
    out, back = packet_socket("p1", bypass=True), packet_socket("p2")
    after_each = []
    for _ in range(int(count)):
        out.send(data_frame())
        time.sleep(0.001)
        after_each.append(charged(out))
    wait(out)
    time.sleep(0.1)
    out.send(data_frame())
    alone_ns = wait(out)
    out.send(data_frame())
    back.send(data_frame())
    after_received_ns = wait(out)
    out.send(data_frame())
    time.sleep(0.0001)
    run("ip", "link", "set", "p1", "down")
    facts = {"after_each": after_each, "alone_ns": alone_ns, "after_received_ns": after_received_ns}
    print(json.dumps({**facts, "after_down": charged(out)}))


main()
