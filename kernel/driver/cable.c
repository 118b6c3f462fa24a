// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames on the cable, each until its last bit has arrived at the other end.
 *
 * What the other end does with a frame is not the cable's business: it calls the
 * function that the port was made with. Both ends are ports, so a direct call
 * would close a circle: to send is to receive, and to receive may be to send.
 */
#include "etherport.h"

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
		if (port->peer)
			port->peer->receive(port->peer, skb);
		else
			kfree_skb(skb);
	}
	etherport_cable_schedule(port, now_ps);
}

/* A frame whose last bit leaves at ``sent_ps`` is on its way. */
void etherport_cable_send(struct etherport *port, struct sk_buff *skb, u64 sent_ps, u64 now_ps)
{
	bool idle = skb_queue_empty(&port->flight);
	u64 arrival_ps = sent_ps + port->cable_delay_ns * 1000;

	if (!port->peer) {
		kfree_skb(skb);
		return;
	}
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

/* Frames on their way are lost. */
void etherport_cable_cut(struct etherport *port)
{
	etherport_event_cancel(&port->flight_event);
	__skb_queue_purge(&port->flight);
}
