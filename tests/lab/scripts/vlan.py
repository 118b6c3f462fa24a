"""Inside the lab: one TCP transfer between two hosts by a VLAN.

Prints the offloads of the VLAN device of the sender that are on, the buffers and the frames that left, and
how many bytes came.
"""

import json
import subprocess
import time

from inside import inside, run, stats

SIZE = 1_000_000
OFFLOADS = ("scatter-gather", "tx-checksumming", "tcp-segmentation-offload")
RECEIVER = (
    "import socket\n"
    "into = socket.create_server(('10.0.0.2', 5000)).accept()[0]\n"
    "came = 0\n"
    "while part := into.recv(1 << 16): came += len(part)\n"
    "print(came)\n"
)
SENDER = f"import socket; socket.create_connection(('10.0.0.2', 5000)).sendall(bytes({SIZE}))"


def main() -> None:
    """See above."""
    run("ip", "link", "add", "name", "p1", "type", "etherport")
    run("ip", "link", "add", "link", "p1", "name", "p2", "type", "etherport")
    for number in ("1", "2"):
        node, port = f"n{number}", f"p{number}"
        run("ip", "netns", "add", node)
        run("ip", "link", "set", port, "netns", node)
        inside(node, "ip", "link", "add", "link", port, "name", "vlan", "type", "vlan", "id", "5")
        inside(node, "ip", "address", "add", f"10.0.0.{number}/24", "dev", "vlan")
        inside(node, "ip", "link", "set", port, "up")
        inside(node, "ip", "link", "set", "vlan", "up")
    time.sleep(3)
    argv = ["ip", "netns", "exec", "n2", "python3", "-c", RECEIVER]
    receiver = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    inside("n1", "python3", "-c", SENDER)
    features = inside("n1", "ethtool", "-k", "vlan").splitlines()
    on = [name for name in OFFLOADS if any(line.startswith(f"{name}: on") for line in features)]
    [link] = json.loads(inside("n1", "ip", "-s", "-j", "link", "show", "vlan"))
    measured = {
        "on": on,
        "sent": SIZE,
        "came": int(receiver.communicate()[0]),
        "buffers": link["stats64"]["tx"]["packets"],
        "frames": stats("n1", "p1")["tx_frames"],
    }
    print(json.dumps(measured))


main()
