// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames on the cable, each until its last bit has arrived at the other end.
 *
 * What the other end does with a frame is not the cable's business: it calls the
 * function that the port was made with. Both ends are ports, so a direct call
 * would close a circle: to send is to receive, and to receive may be to send.
 */
#include <linux/if_vlan.h>

#include "etherport.h"

/* RFC 2819: lengths with the FCS. Every frame on the cable is in one of them. */
const struct ethtool_rmon_hist_range etherport_size_ranges[ETHERPORT_SIZES + 1] = {
	{ 0, 64 },
	{ 65, 127 },
	{ 128, 255 },
	{ 256, 511 },
	{ 512, 1023 },
	{ 1024, 1518 },
	{ 1519, ETHERPORT_MAX_MTU + VLAN_ETH_HLEN + ETH_FCS_LEN },
	{}
};

void etherport_count_size(u64 *sizes, const struct sk_buff *skb)
{
	u32 len = etherport_frame_len(skb) + ETH_FCS_LEN;
	int range = 0;

	while (range < ETHERPORT_SIZES - 1 && len > etherport_size_ranges[range].high)
		range++;
	sizes[range]++;
}

static void etherport_cable_schedule(struct etherport *port, u64 now_ps)
{
	struct sk_buff *skb = skb_peek(&port->flight);

	if (skb)
		etherport_event_at(&port->flight_event, etherport_cb(skb)->arrival_ps, now_ps);
}

static void etherport_cable_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, flight_event);
	u64 now_ps = etherport_now_ps();
	struct sk_buff *skb;

	while ((skb = skb_peek(&port->flight)) &&
	       etherport_cb(skb)->arrival_ps <= now_ps) {
		__skb_unlink(skb, &port->flight);
		port->peer->receive(port->peer, skb);
	}
	etherport_cable_schedule(port, now_ps);
}

/* A frame whose last bit leaves at ``sent_ps`` is on its way. There is a cable. */
void etherport_cable_send(struct etherport *port, struct sk_buff *skb, u64 sent_ps, u64 now_ps)
{
	bool idle = skb_queue_empty(&port->flight);
	u64 arrival_ps = sent_ps + port->cable_delay_ns * 1000;

	etherport_count_size(port->tx_sizes, skb);
	if (idle && arrival_ps <= now_ps) {
		port->peer->receive(port->peer, skb);
		return;
	}
	etherport_cb(skb)->arrival_ps = arrival_ps;
	__skb_queue_tail(&port->flight, skb);
	if (idle)
		etherport_cable_schedule(port, now_ps);
}

void etherport_cable_init(struct etherport *port,
			  void (*receive)(struct etherport *port, struct sk_buff *skb))
{
	port->receive = receive;
	__skb_queue_head_init(&port->flight);
	etherport_event_init(&port->flight_event, etherport_cable_event);
}

/*
 * The cable is pulled, and frames on their way are lost. Nothing less does that:
 * what has left a port that is set down arrives.
 */
void etherport_cable_cut(struct etherport *port)
{
	struct sk_buff *skb;

	etherport_event_cancel(&port->flight_event);
	while ((skb = __skb_dequeue(&port->flight))) {
		if (etherport_is_control(skb))
			kfree_skb(skb);
		else
			etherport_lose(port, skb, &port->count.tx_lost_frames);
	}
}
