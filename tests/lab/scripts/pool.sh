#!/bin/sh
# Two hosts send to a third through a switch of three ports that share one packet memory of $1 bytes.
set -eu

ovs-vsctl add-br br0
for i in 1 2 3; do
	ip link add name "w$i" type etherport
	ip link add link "w$i" name "h$i" type etherport
	for port in "w$i" "h$i"; do
		ethtool -s "$port" autoneg off speed 1000 duplex full
	done
	echo forward >"/sys/class/net/w$i/etherport/role"
	echo 7 >"/sys/class/net/w$i/etherport/pool"
	echo "$1" >"/sys/class/net/w$i/etherport/pool_bytes"
	ovs-vsctl add-port br0 "w$i"
	ip link set "w$i" up
	tc qdisc replace dev "w$i" root bfifo limit 1000000
	ip netns add "n$i"
	ip link set "h$i" netns "n$i"
	ip netns exec "n$i" ip address add "10.0.0.$i/24" dev "h$i"
	ip netns exec "n$i" ip link set "h$i" up
done
ip link set br0 up
sleep 3

ip netns exec n1 iperf3 -s -1 -p 5201 -D
ip netns exec n1 iperf3 -s -1 -p 5202 -D
sleep 1
ip netns exec n2 iperf3 -c 10.0.0.1 -p 5201 -u -b 0 -t 1 >&2 &
ip netns exec n3 iperf3 -c 10.0.0.1 -p 5202 -u -b 0 -t 1 >&2
wait
sleep 1
python3 -B inside.py w1 w2 w3
