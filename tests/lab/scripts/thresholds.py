"""Inside the lab: a bridge whose ports share a packet memory, with thresholds by what is free of it.

Arguments: the bytes of the memory, alpha in 128ths, how many senders there are and how many receivers, and
the file that alpha is written to: `queue_alpha_128ths` of the receivers' ports, or `xoff_alpha_128ths` of
the senders', which are told to stop. Every sender sends to every receiver in turn, 1 Gbit/s to 10 Mbit/s,
more than there is memory for. Prints what the ports of the bridge counted at the end of that, by sides.
"""

import json
import sys
import time

from at_once import counted
from inside import data_frame, make_cable, make_pair, own_stats, packet_socket, raise_ports, run, setting

POOL = 9


def join(number: int, speed_mbps: int) -> tuple[str, str]:
    """A host's port and the bridge's, with a cable between them."""
    host, port = f"h{number}", f"b{number}"
    make_cable(host, port, speed_mbps=speed_mbps)
    run("ethtool", "-A", port, "autoneg", "off", "rx", "off", "tx", "off")
    run("ethtool", "-G", port, "tx", "1")
    run("ip", "link", "set", port, "master", "br0")
    for name, value in (
        ("role", "forward"),
        ("pool", POOL),
        ("buffer_bytes", 1 << 30),
        ("xoff_bytes", 1 << 29),
    ):
        setting(port, name, value)
    run("tc", "qdisc", "replace", "dev", port, "root", "etherfifo")
    raise_ports(host, port)
    return host, port


def address(number: int) -> str:
    """Of a receiver."""
    return f"02:00:00:00:01:{number:02x}"


def main() -> None:
    """See above."""
    size, alpha, senders, receivers = map(int, sys.argv[1:5])
    name = sys.argv[5]
    make_pair()  # switches IPv6 off
    run("ip", "link", "add", "name", "br0", "type", "bridge", "mcast_snooping", "0")
    raise_ports("br0")
    into = [join(number, 1000) for number in range(senders)]
    out = [join(senders + number, 10) for number in range(receivers)]
    setting(into[0][1], "pool_bytes", size)
    for _, port in into if name.startswith("xoff") else out:
        setting(port, name, alpha)
        if name.startswith("xoff"):
            run("ethtool", "-A", port, "autoneg", "off", "rx", "off", "tx", "on")
    for number, (_, port) in enumerate(out):
        run("bridge", "fdb", "add", address(number), "dev", port, "master", "static")
    time.sleep(20)
    frames = [
        bytes.fromhex(address(number).replace(":", "")) + data_frame()[6:] for number in range(receivers)
    ]
    sockets = [packet_socket(host, bypass=False) for host, _ in into]
    for made in sockets:
        made.settimeout(0)
    sent = [0] * senders
    end_s = time.monotonic() + 0.1
    while time.monotonic() < end_s:
        for index, made in enumerate(sockets):
            try:
                for _ in range(8):
                    made.send(frames[sent[index] % receivers])
                    sent[index] += 1
            except BlockingIOError:
                pass
        time.sleep(0.0001)
    # They empty while a program asks one of them after the other.
    then = {port: counted(port) for _, port in (*into, *out)}
    told = {port: {**own_stats(port), **then[port]} for port in then}
    print(json.dumps({"into": [told[port] for _, port in into], "out": [told[port] for _, port in out]}))


main()
