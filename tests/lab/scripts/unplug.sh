#!/bin/sh
# Inside the lab: a bridge between two hosts, one of its ports deleted while it is full of frames.
set -eu
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -batch - <<-END
	netns add a
	netns add b
	link add name a0 netns a type etherport
END
ip netns exec a ip link add link a0 name pa type etherport
ip netns exec a ip link set pa netns 1
ip link add name pb type etherport
ip link add link pb name b0 type etherport
ip link set b0 netns b
for port in pa pb; do echo forward >"/sys/class/net/$port/etherport/role"; done
for host in a b; do ip netns exec $host ethtool -s ${host}0 speed 1000 duplex full autoneg off; done
ethtool -s pa speed 1000 duplex full autoneg off
ethtool -s pb speed 10 duplex full autoneg off
ip netns exec b ethtool -s b0 speed 10 duplex full autoneg off
ovs-vsctl add-br s1 -- set-fail-mode s1 standalone -- add-port s1 pa -- add-port s1 pb
ip link set pa up && ip link set pb up
ip -n a addr add 10.0.0.1/24 dev a0 && ip -n a link set a0 up
ip -n b addr add 10.0.0.2/24 dev b0 && ip -n b link set b0 up
sleep 3
# ARP first; then more than the slow port sends in half a second. Nobody listens, nobody answers.
ip netns exec a ping -c 1 10.0.0.2 >/dev/null
burst='import socket; s = socket.socket(type=socket.SOCK_DGRAM); [s.sendto(bytes(1400), ("10.0.0.2", 9)) for _ in range(500)]'
ip netns exec a python3 -c "$burst"
ethtool -S pa | grep buffer_bytes
ip link del "$1"
sleep 10
ip link show "$1" 2>&1 || true
dmesg | grep -cE 'BUG|WARNING|unregister_netdevice|refcount' || true
