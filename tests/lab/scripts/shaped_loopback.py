"""Sends datagrams over a loopback device with qdiscs, and prints what the root one counted of them as JSON.

The argument is a JSON list: what tc is told, and the lengths of the datagrams.
"""

import json
import socket
import subprocess
import sys

commands, lengths = json.loads(sys.argv[1])
subprocess.run(("ip", "link", "set", "lo", "up"), check=True)
for command in commands:
    subprocess.run(("tc", *command.split()), check=True)
with (
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there,
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here,
):
    there.bind(("127.0.0.1", 0))
    for length in lengths:
        here.sendto(bytes(length), there.getsockname())
    told = subprocess.run(
        ("tc", "-s", "-j", "qdisc", "show", "dev", "lo"), check=True, stdout=subprocess.PIPE
    )
root = next(qdisc for qdisc in json.loads(told.stdout) if qdisc.get("root"))
print(json.dumps({name: root[name] for name in ("bytes", "packets", "drops", "backlog", "qlen")}))
