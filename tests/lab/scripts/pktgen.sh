#!/bin/sh
# Inside the lab: pktgen sends 100 frames from p1 to p2, ten from each buffer if the port lets it. Prints what
# pktgen was told, and how many frames each port counted.
set -eu
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add name p1 type etherport
ip link add link p1 name p2 type etherport
ip link set p1 up
ip link set p2 promisc on up	# pktgen sends to nobody
sleep 2
echo "add_device p1" >/proc/net/pktgen/kpktgend_0
if echo "clone_skb 10" >/proc/net/pktgen/p1; then echo shared; else echo refused; fi 2>/dev/null
echo "count 100" >/proc/net/pktgen/p1
echo "pkt_size 1000" >/proc/net/pktgen/p1
echo start >/proc/net/pktgen/pgctrl
sleep 1
cat /sys/class/net/p1/statistics/tx_packets /sys/class/net/p2/statistics/rx_packets
