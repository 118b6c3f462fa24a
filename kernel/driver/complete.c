// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames that have left, until their host hears of it ("ethtool -C tx-usecs
 * tx-frames"; where the vector has an interval, that counts).
 *
 * A card is done with a frame when its last bit has left, its driver when it is
 * told so. Till then the frame has its descriptor, BQL counts its bytes, and its
 * sender is charged for it, which is what TCP small queues goes by.
 *
 * The frame itself is the receiver's by then: what the sender is charged stays
 * here, with an empty buffer.
 */
#include "etherport.h"

/* Whoever forwards frames is told of nothing: its hardware does that. */
static bool etherport_tells_late(const struct etherport *port)
{
	const struct etherport_vector *vector = &port->vector;

	if (port->role != ETHERPORT_HOST)
		return false;
	if (vector->from == ETHERPORT_INTERVAL)
		return vector->usecs;
	return vector->tx_usecs || vector->tx_max_frames > 1;
}

/*
 * Frames that are an interrupt at once: no more than a ring has, or it would never
 * come. BQL may stop the queue before there are so many: then what comes in ends it.
 */
static u32 etherport_tx_batch(const struct etherport *port)
{
	const struct etherport_vector *vector = &port->vector;

	if (vector->from == ETHERPORT_INTERVAL)
		return U32_MAX;
	if (!vector->tx_usecs)
		return min(vector->tx_max_frames, port->tx_ring_size);
	return vector->tx_max_frames ? : U32_MAX;
}

u32 etherport_tx_left(const struct etherport *port)
{
	u32 left = 0;
	int class;

	for (class = 0; class < port->class_count; class++)
		left += port->classes[class].left_frames;
	return left;
}

/* When the host is to hear of what has left, if of anything. */
void etherport_tx_moderate(struct etherport *port, u64 now_ps)
{
	const struct etherport_vector *vector = &port->vector;
	u32 frames = etherport_tx_left(port);
	u64 due_ps = now_ps;

	if (!frames)
		return;
	if (frames < etherport_tx_batch(port) && etherport_tells_late(port)) {
		if (vector->from != ETHERPORT_INTERVAL && !vector->tx_usecs)
			return;
		if (etherport_event_pending(&port->left_event))
			return;
		due_ps = etherport_interrupt_at(vector, vector->tx_usecs, now_ps);
	}
	etherport_event_at(&port->left_event, due_ps, now_ps);
}

/* Moves what the frame's sender is charged for it to a buffer of its own. */
static void etherport_keep_charge(struct etherport *port, struct sk_buff *skb)
{
	struct sk_buff *charge;

	if (!skb->destructor)
		return;
	charge = alloc_skb(0, GFP_ATOMIC);
	if (!charge) {
		skb_orphan(skb);
		return;
	}
	charge->sk = skb->sk;
	charge->destructor = skb->destructor;
	charge->truesize = skb->truesize;
	skb_shinfo(charge)->destructor_arg = skb_shinfo(skb)->destructor_arg;
	skb->sk = NULL;
	skb->destructor = NULL;
	__skb_queue_tail(&port->charges, charge);
}

/*
 * The frame has left. What was charged for it is let off, now or when the host
 * hears of it: a descriptor, BQL's bytes, and the sending socket, or the packet
 * buffer of the port by which the frame entered this node.
 */
void etherport_tx_complete(struct etherport *port, struct sk_buff *skb, u64 now_ps)
{
	struct etherport_class *class = &port->classes[skb_get_queue_mapping(skb)];

	/*
	 * The card has read what the frame has of its sender's pages: they are free
	 * from now on, whatever becomes of the frame. Without memory for a copy
	 * etherport_strip() tries again.
	 */
	skb_orphan_frags_rx(skb, GFP_ATOMIC);
	/*
	 * Nor is it part of a connection any more. A namespace that ends looks for
	 * such frames until there are none, and time stands still while it does.
	 */
	nf_reset_ct(skb);
	if (!etherport_tells_late(port)) {
		skb_orphan(skb);
		netdev_tx_completed_queue(skb_get_tx_queue(port->dev, skb), 1, skb->len);
		return;
	}
	etherport_keep_charge(port, skb);
	class->left_frames++;
	class->left_bytes += skb->len;
	etherport_tx_moderate(port, now_ps);
}

/* The host hears of it. */
void etherport_tx_reclaim(struct etherport *port)
{
	struct sk_buff *charge;
	int i;

	for (i = 0; i < port->class_count; i++) {
		struct etherport_class *class = &port->classes[i];

		if (!class->left_frames)
			continue;
		port->vector.tx.frames += class->left_frames;
		port->vector.tx.bytes += class->left_bytes;
		netdev_tx_completed_queue(netdev_get_tx_queue(port->dev, i), class->left_frames,
					  class->left_bytes);
		class->left_frames = 0;
		class->left_bytes = 0;
	}
	while ((charge = __skb_dequeue(&port->charges)))
		consume_skb(charge);
}

void etherport_complete_init(struct etherport *port, void (*interrupt)(struct etherport_event *event))
{
	__skb_queue_head_init(&port->charges);
	etherport_event_init(&port->left_event, interrupt);
}
