"""Inside the lab: `ip` and `tc` kept open by the guest's own Batch. Prints what each answered."""

import json
import sys

# The guest's own code, which is in every lab.
sys.path.insert(0, "/run/wirelab/lib")
from wirelab.guest.network import BATCHES
from wirelab.guest.shell import Batch, CommandError

ip, tc = (Batch(*BATCHES[tool]) for tool in ("ip", "tc"))

ip.run(["link set dummy0 up", *(f"route add 10.9.{number}.0/24 dev dummy0" for number in range(100))])
routes = ip.told("route show root 10.9.0.0/16")
tc.run(["qdisc replace dev dummy0 root pfifo limit 7", "qdisc replace dev ifb0 root bfifo limit 9000"])
classes = tc.told("class show dev lo")
qdiscs = {qdisc["dev"]: qdisc["kind"] for qdisc in tc.told("qdisc show") if qdisc.get("root")}
try:
    ip.run(["link set dummy0 mtu 1400", "link set nobody up", "link set dummy0 mtu 1300"])
    failure = ""
except CommandError as error:
    failure = str(error)
(after,) = Batch(*BATCHES["ip"]).told("link show dev dummy0")

print(
    json.dumps(
        {
            "routes": len(routes),
            "classes": classes,
            "qdiscs": qdiscs,
            "failure": failure,
            "mtu": after["mtu"],
        }
    )
)
