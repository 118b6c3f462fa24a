// SPDX-License-Identifier: GPL-2.0-only
/*
 * MAC control frames: made by a MAC, read and ended by the next one.
 *
 * A port that is kept from sending by PAUSE hears of it some ten thousand times a
 * second, and nobody keeps such a frame: its memory goes round.
 */
#include "control.h"

#define ETHERPORT_CONTROL_SPARES	64

static const u8 etherport_control_da[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

static struct sk_buff_head etherport_spares;

/* A frame of this MAC without an opcode. NULL: no memory. */
struct sk_buff *etherport_control_new(struct etherport *port)
{
	struct sk_buff *skb = __skb_dequeue(&etherport_spares);
	struct etherport_control_frame *frame;

	if (!skb) {
		skb = alloc_skb(sizeof(*frame), GFP_ATOMIC);
		if (!skb)
			return NULL;
		skb_put(skb, sizeof(*frame));
		skb_reset_mac_header(skb);
	}
	skb->dev = port->dev;
	/* To the recorder it is a frame that nobody has seen. */
	skb->secmark = 0;
	frame = (struct etherport_control_frame *)skb->data;
	memset(frame, 0, sizeof(*frame));
	ether_addr_copy(frame->eth.h_dest, etherport_control_da);
	ether_addr_copy(frame->eth.h_source, port->dev->dev_addr);
	frame->eth.h_proto = htons(ETH_P_PAUSE);
	return skb;
}

/* It has been read. One that a process has sent has another shape. */
void etherport_control_free(struct sk_buff *skb)
{
	if (etherport_cb(skb)->of_the_mac && !skb_shared(skb) && !skb_cloned(skb) &&
	    skb_queue_len(&etherport_spares) < ETHERPORT_CONTROL_SPARES)
		__skb_queue_head(&etherport_spares, skb);
	else
		consume_skb(skb);
}

/* What a MAC sees of a frame, however it lies in memory: padded with zeros. */
void etherport_control_read(const struct sk_buff *skb, struct etherport_control_frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	skb_copy_bits(skb, 0, frame, min_t(u32, skb->len, sizeof(*frame)));
}

/* Annex 31B.3.3: to the address that is reserved for it, or to this station. */
bool etherport_control_is_for(const struct etherport *port,
			      const struct etherport_control_frame *frame)
{
	return ether_addr_equal(frame->eth.h_dest, etherport_control_da) ||
	       ether_addr_equal(frame->eth.h_dest, port->dev->dev_addr);
}

void __init etherport_control_setup(void)
{
	__skb_queue_head_init(&etherport_spares);
}
