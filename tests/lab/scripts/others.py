"""Inside the lab: p1 sends ten frames to each of some addresses, and p2 is a host.

Prints what p2 has counted after each address, by name; `looking` is another's with a p2 that is promiscuous.
"""

import json
import time
from pathlib import Path

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run


def main() -> None:
    """See above."""
    make_pair()
    raise_ports("p1", "p2")
    run("ip", "link", "set", "p2", "promisc", "off")
    time.sleep(2)
    own = Path("/sys/class/net/p2/address").read_text().strip().replace(":", "")
    others = "02000000ffff"
    out, told = packet_socket("p1"), {}
    ways = {"own": own, "group": "03000000ffff", "all": "f" * 12, "others": others, "looking": others}
    for way, address in ways.items():
        if way == "looking":
            run("ip", "link", "set", "p2", "promisc", "on")
        before = own_stats("p2")
        for _ in range(10):
            out.send(bytes.fromhex(address) + data_frame()[6:])
        time.sleep(0.01)
        told[way] = {name: count - before[name] for name, count in own_stats("p2").items()}
    link = json.loads(run("ip", "-s", "-s", "-j", "link", "show", "dev", "p2"))[0]["stats64"]["rx"]
    print(json.dumps({**told, "otherhost": link["otherhost"]}))


main()
