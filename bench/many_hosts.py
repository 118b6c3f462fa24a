"""Inside the lab: an unmodified Mininet with so many hosts on one switch, from nothing to ready."""

import sys

from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo


def main() -> None:
    """Build and start it; switching the lab off is all the cleaning up there is."""
    net = Mininet(topo=SingleSwitchTopo(int(sys.argv[1])), switch=OVSBridge, controller=None)
    net.start()
    print(f"{len(net.hosts)} hosts ready")


main()
