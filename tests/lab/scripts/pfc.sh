#!/bin/sh
# A storage flow (DSCP 24, priority 3) and another one (priority 0) go by one switch from one host; the
# storage's receiver is ten times slower than the sender. $1: which priorities are lossless, in the words
# of `dcb pfc`; all:off for plain PAUSE.
#
#   h1 ==10G== w1 switch w2 --1G-- h2 (priority 3)
#                        w3 ==10G== h3 (priority 0)
set -eu

trust_dscp() {
	# A kernel before 6.2 has no `dcb apptrust`.
	if test -e "/sys/class/net/$1/etherport/trust"; then
		echo dscp >"/sys/class/net/$1/etherport/trust"
	else
		dcb apptrust set dev "$1" order dscp
	fi
}

ovs-vsctl add-br br0
for i in 1 2 3; do
	ip link add name "w$i" numtxqueues 8 type etherport
	ip link add link "w$i" name "h$i" numtxqueues 8 type etherport
	speed=10000
	test "$i" != 2 || speed=1000
	for port in "w$i" "h$i"; do
		ethtool -s "$port" autoneg off speed "$speed" duplex full
		ethtool -A "$port" rx on tx on
		ethtool -C "$port" rx-usecs 20
		dcb pfc set dev "$port" prio-pfc "$1"
		trust_dscp "$port"
	done
	echo forward >"/sys/class/net/w$i/etherport/role"
	echo 200000 >"/sys/class/net/w$i/etherport/buffer_bytes"
	echo 100000 >"/sys/class/net/w$i/etherport/xoff_bytes"
	echo 90000 >"/sys/class/net/w$i/etherport/xon_bytes"
	ovs-vsctl add-port br0 "w$i"
	ip link set "w$i" up
	tc qdisc replace dev "w$i" root handle 1: mq
	for queue in 1 2 3 4 5 6 7 8; do
		tc qdisc replace dev "w$i" parent "1:$queue" bfifo limit 1000000
	done
	ip netns add "n$i"
	ip link set "h$i" netns "n$i"
	ip netns exec "n$i" tc qdisc replace dev "h$i" root handle 1: mq
	for queue in 1 2 3 4 5 6 7 8; do
		ip netns exec "n$i" tc qdisc replace dev "h$i" parent "1:$queue" pfifo limit 1000
	done
	ip netns exec "n$i" ip address add "10.0.0.$i/24" dev "h$i"
	ip netns exec "n$i" ip link set "h$i" up
done
ip link set br0 up
sleep 3

ip netns exec n2 iperf3 -s -1 -J >/run/storage.json &
ip netns exec n3 iperf3 -s -1 -J >/run/other.json &
sleep 1
ip netns exec n1 iperf3 -c 10.0.0.2 -u -b 5G --dscp 24 -t 1 >/dev/null &
ip netns exec n1 iperf3 -c 10.0.0.3 -u -b 2G -t 1 >/dev/null &
wait
sleep 1
for flow in storage other; do
	python3 -c 'import json, sys; end = json.load(open(sys.argv[1]))["end"]["sum_received"]
print(sys.argv[2], round(end["bits_per_second"]), end["lost_packets"])' "/run/$flow.json" "$flow"
done
dcb -s -j pfc show dev w1
ip netns exec n1 dcb -s -j pfc show dev h1
python3 -B inside.py w1 w2 w3
ip netns exec n1 python3 -B inside.py h1
