// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who shares a medium: the two ends of a cable, or all that hubs join.
 *
 * A hub is a repeater (IEEE 802.3 clauses 9 and 27): it has no buffer and does
 * not listen. All ports with the role "repeat" in one namespace are one hub.
 */
#include <linux/rtnetlink.h>

#include "etherport.h"

/* Hubs behind hubs: with more of them no cable is short enough for the slot. */
#define ETHERPORT_HUBS_MAX	4

static LIST_HEAD(etherport_stations);

void etherport_hub_add(struct etherport *port)
{
	list_add_tail(&port->stations, &etherport_stations);
}

void etherport_hub_remove(struct etherport *port)
{
	list_del_init(&port->stations);
}

/* Class II repeater, clause 27.3.1.3; at 10 Mbit/s clause 9.5.5.1 */
static u64 etherport_repeater_ps(const struct etherport *port)
{
	return etherport_bits_ps(port, port->speed_mbps == SPEED_10 ? 8 : 46);
}

/* What comes in at one port of a hub leaves at every other. */
void etherport_repeat(struct etherport *port, struct sk_buff *skb)
{
	u64 now_ps = etherport_now_ps();
	u64 sent_ps = now_ps + etherport_repeater_ps(port);
	struct net_device *dev;

	port->count.rx_frames++;
	port->count.rx_bytes += etherport_frame_len(skb);
	rcu_read_lock();
	for_each_netdev_rcu(dev_net(port->dev), dev) {
		struct etherport *out = netdev_priv(dev);
		struct sk_buff *copy;

		if (!etherport_is(dev) || out == port || out->role != ETHERPORT_REPEAT ||
		    !netif_carrier_ok(dev))
			continue;
		copy = skb_copy(skb, GFP_ATOMIC);
		if (!copy) {
			out->count.tx_dropped_error++;
			continue;
		}
		if (etherport_records())
			etherport_record_sent(out, copy, sent_ps, 0);
		out->count.tx_frames++;
		out->count.tx_bytes += etherport_frame_len(copy);
		etherport_cable_send(out, copy, sent_ps, now_ps);
	}
	rcu_read_unlock();
	consume_skb(skb);
}

/* How far the signal of ``first`` goes; on the way, whoever has no medium yet joins. */
static u64 etherport_reach(struct etherport *first, const struct etherport *from, u64 delay_ps,
			   int hubs)
{
	struct etherport *to = from->peer;
	struct net_device *dev;
	u64 farthest_ps = 0;

	if (!to || !netif_carrier_ok(to->dev))
		return 0;

	delay_ps += from->cable_delay_ns * 1000;
	if (to->role != ETHERPORT_REPEAT) {
		if (to != first && list_empty(&to->medium))
			list_add_tail(&to->medium, &first->medium);
		return delay_ps;
	}
	if (hubs == ETHERPORT_HUBS_MAX)
		return delay_ps;

	delay_ps += etherport_repeater_ps(to);
	for_each_netdev(dev_net(to->dev), dev) {
		struct etherport *out = netdev_priv(dev);
		u64 far_ps;

		if (!etherport_is(dev) || out == to || out->role != ETHERPORT_REPEAT)
			continue;
		far_ps = etherport_reach(first, out, delay_ps, hubs + 1);
		farthest_ps = max(farthest_ps, far_ps);
	}
	return farthest_ps;
}

/* The medium of a station, and how wide it is: what its most distant two are apart. */
static void etherport_join(struct etherport *port)
{
	u64 delay_ps = etherport_reach(port, port, 0, 0);
	struct etherport *other;

	list_for_each_entry(other, &port->medium, medium) {
		u64 far_ps = etherport_reach(other, other, 0, 0);

		delay_ps = max(delay_ps, far_ps);
	}
	list_for_each_entry(other, &port->medium, medium)
		other->medium_delay_ps = delay_ps;
	port->medium_delay_ps = delay_ps;
}

static bool etherport_is_station(const struct etherport *port)
{
	return port->half && port->role != ETHERPORT_REPEAT && netif_carrier_ok(port->dev);
}

/*
 * A link in half duplex came or went. Every medium is made anew: which of them
 * hung together by that link is not worth knowing for as few as there are.
 */
void etherport_hub_update(void)
{
	struct etherport *port;

	ASSERT_RTNL();
	local_bh_disable();
	list_for_each_entry(port, &etherport_stations, stations)
		list_del_init(&port->medium);
	list_for_each_entry(port, &etherport_stations, stations)
		if (etherport_is_station(port) && list_empty(&port->medium))
			etherport_join(port);
	list_for_each_entry(port, &etherport_stations, stations)
		if (etherport_is_station(port))
			etherport_tx_resume(port);
	local_bh_enable();
}
