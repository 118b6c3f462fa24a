"""Inside the lab: the longest packet that a stack makes of the TCP segments that come in together.

Argument: `gro_max_size` of the receiving port, which waits 100 us for more. Prints the length of the longest
packet, its Ethernet header included.
"""

import json
import socket
import subprocess
import sys
import time

from inside import inside, make_pair, run

ETH_P_ALL = 3
OCTETS = 2_000_000
RECEIVER = f"""
import socket
server = socket.create_server(("10.0.0.2", 5001))
came, _ = server.accept()
left = {OCTETS}
while left:
    left -= len(came.recv(65536))
"""
SENDER = f"""
import socket
socket.create_connection(("10.0.0.2", 5001)).sendall(bytes({OCTETS}))
"""


def main() -> None:
    """See above."""
    make_pair(speed_mbps=10000)
    run("ethtool", "-C", "p2", "rx-usecs", "100")
    run("ip", "link", "set", "p2", "gro_max_size", sys.argv[1])
    run("ip", "netns", "add", "far")
    run("ip", "link", "set", "p1", "netns", "far")
    inside("far", "ip", "address", "add", "10.0.0.1/24", "dev", "p1")
    inside("far", "ip", "link", "set", "p1", "up")
    run("ip", "address", "add", "10.0.0.2/24", "dev", "p2")
    run("ip", "link", "set", "p2", "up")
    time.sleep(2)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as seen:
        seen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 26)
        seen.bind(("p2", ETH_P_ALL))
        receiver = subprocess.Popen(["python3", "-c", RECEIVER])
        time.sleep(1)
        inside("far", "python3", "-c", SENDER)
        receiver.wait()
        seen.settimeout(0)
        longest = 0
        try:
            while packet := seen.recv(2**17):
                longest = max(longest, len(packet))
        except BlockingIOError:
            print(json.dumps({"longest": longest}))


main()
