// SPDX-License-Identifier: GPL-2.0-only
/*
 * 802.3x flow control: MAC control frames with opcode PAUSE.
 *
 * IEEE 802.3 Annex 31B. Sent when the packet buffer rises above XOFF, sent again
 * before the peer's timer runs out, and sent with a time of zero when the buffer
 * has fallen to XON. Received frames are consumed here: a bridge never sees them.
 */
#include "etherport.h"

/* IEEE 802.3 Table 31A-1 and clause 31.3: the whole MAC control frame. */
struct etherport_pause_frame {
	struct ethhdr eth;
	__be16 opcode;
	__be16 quanta;
	u8 pad[ETH_ZLEN - ETH_HLEN - 4];
} __packed;

#define ETHERPORT_OPCODE_PAUSE	0x0001

static const u8 etherport_pause_da[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

static u64 etherport_quanta_ps(const struct etherport *port, u16 quanta)
{
	return (u64)quanta * ETHERPORT_QUANTUM_LEN * port->byte_ps;
}

static struct sk_buff *etherport_pause_frame(struct etherport *port, u16 quanta)
{
	struct etherport_pause_frame *frame;
	struct sk_buff *skb;

	skb = netdev_alloc_skb(port->dev, sizeof(*frame));
	if (!skb)
		return NULL;

	frame = skb_put_zero(skb, sizeof(*frame));
	ether_addr_copy(frame->eth.h_dest, etherport_pause_da);
	ether_addr_copy(frame->eth.h_source, port->dev->dev_addr);
	frame->eth.h_proto = htons(ETH_P_PAUSE);
	frame->opcode = htons(ETHERPORT_OPCODE_PAUSE);
	frame->quanta = htons(quanta);
	skb_reset_mac_header(skb);
	return skb;
}

/* The PAUSE frame that is due, if any. */
struct sk_buff *etherport_pause_next(struct etherport *port)
{
	struct sk_buff *skb;

	if (!port->pause_pending)
		return NULL;

	skb = etherport_pause_frame(port, port->pause_pending_quanta);
	if (skb) {
		port->pause_pending = false;
		port->count.tx_pause_frames++;
	}
	return skb;
}

static void etherport_pause_send(struct etherport *port, u16 quanta)
{
	port->pause_pending = true;
	port->pause_pending_quanta = quanta;
	etherport_tx_kick(port);
}

/* Refresh at half the pause time: no frame of data may slip through between. */
static void etherport_pause_rearm(struct etherport *port)
{
	u64 half_ps = etherport_quanta_ps(port, port->pause_quanta) / 2;
	u64 now_ps = etherport_now_ps();

	etherport_event_at(&port->pause_event, now_ps + half_ps, now_ps);
}

static void etherport_pause_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, pause_event);

	etherport_pause_send(port, port->pause_quanta);
	etherport_pause_rearm(port);
}

/* The fill of the packet buffer has changed: tell the peer if it must know. */
void etherport_pause_watch(struct etherport *port)
{
	u64 used = port->buffer_used_bytes;

	if (!port->xoff_sent && port->pause_tx && used > port->xoff_bytes) {
		port->xoff_sent = true;
		etherport_pause_send(port, port->pause_quanta);
		etherport_pause_rearm(port);
	} else if (port->xoff_sent && (!port->pause_tx || used <= port->xon_bytes)) {
		port->xoff_sent = false;
		etherport_event_cancel(&port->pause_event);
		etherport_pause_send(port, 0);
	}
}

/* Add the pause up to now to the counter; a pause that is over is closed. */
static void etherport_pause_account(struct etherport *port, u64 now_ps)
{
	u64 end_ps = min(now_ps, port->paused_until_ps);

	if (!port->paused_since_ps)
		return;
	if (end_ps > port->paused_since_ps)
		port->paused_ps += end_ps - port->paused_since_ps;
	port->paused_since_ps = now_ps < port->paused_until_ps ? now_ps : 0;
}

bool etherport_paused(struct etherport *port, u64 now_ps)
{
	return port->paused_until_ps > now_ps;
}

u64 etherport_paused_ns(struct etherport *port)
{
	etherport_pause_account(port, etherport_now_ps());
	return div_u64(port->paused_ps, 1000);
}

/*
 * A later PAUSE replaces the running timer (Annex 31B.3.3). A frame that is
 * being sent is completed first.
 */
void etherport_pause_received(struct etherport *port, const struct sk_buff *skb)
{
	const struct etherport_pause_frame *frame = (void *)skb_mac_header(skb);
	u64 now_ps = etherport_now_ps();

	if (skb_headlen(skb) < offsetof(struct etherport_pause_frame, pad) ||
	    frame->opcode != htons(ETHERPORT_OPCODE_PAUSE))
		return;

	port->count.rx_pause_frames++;
	if (!port->pause_rx)
		return;

	etherport_pause_account(port, now_ps);
	port->paused_until_ps = now_ps + etherport_quanta_ps(port, ntohs(frame->quanta));
	if (frame->quanta && !port->paused_since_ps)
		port->paused_since_ps = now_ps;
	else if (!frame->quanta)
		port->paused_since_ps = 0;
	etherport_tx_kick(port);
}

void etherport_pause_init(struct etherport *port)
{
	port->pause_quanta = ETHERPORT_QUANTA_MAX;
	etherport_event_init(&port->pause_event, etherport_pause_event);
}

/* The link is gone, and with it whatever either end had asked for. */
void etherport_pause_stop(struct etherport *port)
{
	local_bh_disable();
	etherport_event_cancel(&port->pause_event);
	etherport_pause_account(port, etherport_now_ps());
	port->paused_until_ps = 0;
	port->paused_since_ps = 0;
	port->pause_pending = false;
	port->xoff_sent = false;
	local_bh_enable();
}
