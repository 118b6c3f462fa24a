"""Namespaces come and go as those of hosts do, whatever their ports have sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.lab.rig import Rig

# When its namespace goes, the frame of a connection waits in the ring of another port, which interrupts late.
ENDS_BEFORE_ITS_FRAME_IS_READ = """
set -e
ip link add name p1 type etherport
ip link add link p1 name p2 type etherport
ethtool -C p2 rx-usecs 100000
for node in 1 2; do
    ip netns add n$node
    ip link set p$node netns n$node
    ip -n n$node address add 10.0.0.$node/24 dev p$node
    ip -n n$node link set p$node up
done
sleep 3
ip -n n1 neighbour add 10.0.0.2 dev p1 lladdr $(ip netns exec n2 cat /sys/class/net/p2/address)
ip netns exec n1 nft -f - <<EOF
table inet tracked {
    chain out { type filter hook output priority 0; ct state new accept; }
}
EOF
ip netns exec n1 timeout 0.05 ping -c 1 10.0.0.2 >/dev/null || true
ip netns exec n1 cat /proc/sys/net/netfilter/nf_conntrack_count
ip netns delete n1
sleep 1
ip -n n2 -j link show p2 | grep -c NO-CARRIER
"""


def test_a_namespace_ends_before_its_frames_are_read(rig: Rig) -> None:
    """Conntrack waits for the frames of its connections, but a frame that has left is nobody's any more."""
    ended = rig.execute("bash", "-c", ENDS_BEFORE_ITS_FRAME_IS_READ)
    assert (ended.code, ended.stdout.split()) == (0, ["1", "1"]), ended.stderr
