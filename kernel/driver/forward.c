// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch or module passes on, to the other ports of its node.
 *
 * A frame is charged to the packet buffer of the port it came by from the moment
 * it has arrived until it has left the node. To look up where it has to go and to
 * bring it there takes a while, the same for each: frames go on in their order.
 */
#include "etherport.h"

/* As a frame leaves the port for the node behind it. False: no memory. */
bool etherport_strip(struct etherport *port, struct sk_buff *skb)
{
	/* A page of the sender's may not outlive its system call here. */
	if (skb_orphan_frags_rx(skb, GFP_ATOMIC))
		return false;

	/* Nothing of the sender's kernel state crosses a cable. */
	skb_scrub_packet(skb, true);
	/* That spares the time at which it was to leave: a qdisc here would wait for it. */
	skb_set_delivery_time(skb, 0, 0);
	skb_clear_hash(skb);
	skb_set_queue_mapping(skb, 0);
	skb->priority = 0;
	skb->protocol = eth_type_trans(skb, port->dev);
	return true;
}

void etherport_count_received(struct etherport *port, u32 len)
{
	port->count.rx_frames++;
	port->count.rx_bytes += len;
}

static void etherport_pass_on(struct etherport *port, struct sk_buff *skb)
{
	u32 len = etherport_frame_len(skb);
	int class = etherport_cb(skb)->class;

	if (etherport_records())
		etherport_record_fill_of(port, skb, ETHERPORT_RECORD_HANDED, 0, 0);
	if (!etherport_strip(port, skb) ||
	    !etherport_buffer_charge(port, skb, class, len)) {
		etherport_buffer_give(port, class, len);
		etherport_lose(port, skb, &port->count.rx_dropped_error);
		return;
	}
	etherport_count_received(port, len);
	netif_receive_skb(skb);
}

static void etherport_forward_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, forward_event);
	u64 now_ps = etherport_now_ps();
	struct sk_buff *skb;

	while ((skb = skb_peek(&port->forwarding)) && etherport_cb(skb)->ready_ps <= now_ps) {
		__skb_unlink(skb, &port->forwarding);
		etherport_pass_on(port, skb);
	}
	if (skb)
		etherport_event_at(event, etherport_cb(skb)->ready_ps, now_ps);
}

/* A frame for the other ports has arrived whole. */
void etherport_forward(struct etherport *port, struct sk_buff *skb)
{
	int class = etherport_class_of(port, skb);
	struct sk_buff *last;
	u64 now_ps, ready_ps;

	if (!etherport_buffer_take(port, class, skb)) {
		kfree_skb(skb);
		return;
	}
	etherport_cb(skb)->class = class;
	last = skb_peek_tail(&port->forwarding);
	if (!port->forward_latency_ns && !last) {
		etherport_pass_on(port, skb);
		return;
	}
	now_ps = etherport_now_ps();
	ready_ps = now_ps + port->forward_latency_ns * 1000;
	/* The latency may have been longer when the one before came. */
	if (last)
		ready_ps = max(ready_ps, etherport_cb(last)->ready_ps);
	etherport_cb(skb)->ready_ps = ready_ps;
	__skb_queue_tail(&port->forwarding, skb);
	if (!last)
		etherport_event_at(&port->forward_event, ready_ps, now_ps);
}

void etherport_forward_init(struct etherport *port)
{
	__skb_queue_head_init(&port->forwarding);
	etherport_event_init(&port->forward_event, etherport_forward_event);
}

/* The port goes down, and what it has not passed on yet is lost. */
void etherport_forward_stop(struct etherport *port)
{
	struct sk_buff *skb;

	local_bh_disable();
	etherport_event_cancel(&port->forward_event);
	while ((skb = __skb_dequeue(&port->forwarding))) {
		etherport_buffer_give(port, etherport_cb(skb)->class, etherport_frame_len(skb));
		etherport_lose(port, skb, &port->count.rx_dropped_down);
	}
	local_bh_enable();
}
