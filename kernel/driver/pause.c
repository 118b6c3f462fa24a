// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow control: MAC control frames with opcode PAUSE (IEEE 802.3 Annex 31B) or,
 * of single priorities, PFC (IEEE 802.1Q clause 36, 802.3 Annex 31D).
 *
 * Sent when the packet buffer rises above XOFF, sent again before the peer's
 * timer runs out, and sent with a time of zero when the buffer has fallen to XON.
 * Received frames are consumed here: a bridge never sees them. They take effect
 * after a reaction time (802.3 Annex 31B.3.7 bounds it), one after the other. A
 * port speaks one of the two: who keeps priorities apart does not use PAUSE
 * (802.1Q 36.1.3.1).
 *
 * The transmitter asks here whether it may send and what is due; that something
 * has changed it learns by the function that the port was made with.
 */
#include "control.h"
#include "etherport.h"

static u64 etherport_quanta_ps(const struct etherport *port, u16 quanta)
{
	return (u64)quanta * ETHERPORT_QUANTUM_LEN * port->byte_ps;
}

/* Whether the peer is told when the buffer of this class fills: only while there is a link. */
static bool etherport_pause_sends(const struct etherport *port, int class)
{
	if (!netif_carrier_ok(port->dev))
		return false;
	/* In half duplex nobody may be told: there is a medium for that (802.3 Annex 31B.1). */
	return port->pfc ? port->pfc & BIT(class) && !port->half : port->pause_tx;
}

static u8 etherport_xoff_sent(const struct etherport *port)
{
	u8 classes = 0;
	int class;

	for (class = 0; class < port->class_count; class++)
		if (port->classes[class].xoff_sent)
			classes |= BIT(class);
	return classes;
}

static __be16 etherport_asked_quanta(const struct etherport *port, bool xoff)
{
	return xoff ? htons(port->pause_quanta) : 0;
}

static void etherport_fill_pfc(struct etherport *port, struct etherport_control_frame *frame)
{
	int class;

	frame->opcode = htons(ETHERPORT_OPCODE_PFC);
	frame->pfc.enabled = htons(port->pause_pending);
	for (class = 0; class < port->class_count; class++) {
		if (!(port->pause_pending & BIT(class)))
			continue;
		frame->pfc.quanta[class] =
			etherport_asked_quanta(port, port->classes[class].xoff_sent);
		port->classes[class].pfc_requests++;
	}
}

static struct sk_buff *etherport_pause_frame(struct etherport *port)
{
	struct sk_buff *skb = etherport_control_new(port);
	struct etherport_control_frame *frame;

	if (!skb)
		return NULL;

	frame = (struct etherport_control_frame *)skb->data;
	if (port->pfc) {
		etherport_fill_pfc(port, frame);
	} else {
		frame->opcode = htons(ETHERPORT_OPCODE_PAUSE);
		/* After PFC there may be frames of other classes than the first. */
		frame->quanta = etherport_asked_quanta(port, etherport_xoff_sent(port));
	}
	return skb;
}

/*
 * The MAC control frame that is due, if any, and not before it was: it says what
 * is so when it leaves.
 */
struct sk_buff *etherport_pause_next(struct etherport *port, u64 *start_ps)
{
	struct sk_buff *skb;

	if (!port->pause_pending)
		return NULL;

	skb = etherport_pause_frame(port);
	if (skb) {
		port->pause_pending = 0;
		*start_ps = max(*start_ps, port->pause_due_ps);
	}
	return skb;
}

/* The peer is to hear of these classes. */
static void etherport_pause_tell(struct etherport *port, u8 classes)
{
	if (!port->pause_pending)
		port->pause_due_ps = etherport_now_ps();
	port->pause_pending |= classes;
	port->tx_kick(port);
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

	etherport_pause_rearm(port);
	etherport_pause_tell(port, etherport_xoff_sent(port));
}

static u64 etherport_xoff_at(const struct etherport *port)
{
	return min(port->xoff_bytes, etherport_pool_share(port->pool, port->xoff_alpha_128ths));
}

/*
 * As far below an XOFF that the fill of a shared memory has lowered; not above
 * XOFF, whatever was set: each change of the fill would take back the last word.
 */
static u64 etherport_xon_at(const struct etherport *port, u64 xoff_bytes)
{
	u64 lowered_bytes = port->xoff_bytes - xoff_bytes;
	u64 xon_bytes = min(port->xon_bytes, port->xoff_bytes);

	return xon_bytes - min(xon_bytes, lowered_bytes);
}

/* The fill of a class's packet buffer has changed: tell the peer if it must know. */
void etherport_pause_watch(struct etherport *port, int class)
{
	struct etherport_class *state = &port->classes[class];
	bool sends = etherport_pause_sends(port, class);
	u64 xoff_bytes = etherport_xoff_at(port);
	bool told = etherport_xoff_sent(port);

	if (!state->xoff_sent && sends && state->used_bytes > xoff_bytes) {
		if (!etherport_event_pending(&port->pause_event))
			etherport_pause_rearm(port);
		state->xoff_sent = true;
	} else if (state->xoff_sent && (!sends || state->used_bytes <= etherport_xon_at(port, xoff_bytes))) {
		state->xoff_sent = false;
		if (!etherport_xoff_sent(port))
			etherport_event_cancel(&port->pause_event);
	} else {
		return;
	}
	/* PAUSE has one word for all of them. */
	if (port->pfc || told != !!etherport_xoff_sent(port))
		etherport_pause_tell(port, BIT(class));
}

/* Thresholds or permissions have changed. */
void etherport_pause_watch_all(struct etherport *port)
{
	int class;

	for (class = 0; class < port->class_count; class++)
		etherport_pause_watch(port, class);
}

/* Add the pause up to now to the counter; a pause that is over is closed. */
static void etherport_pause_account(struct etherport_class *state, u64 now_ps)
{
	u64 end_ps = min(now_ps, state->paused_until_ps);

	if (!state->paused_since_ps)
		return;
	if (end_ps > state->paused_since_ps)
		state->paused_ps += end_ps - state->paused_since_ps;
	state->paused_since_ps = now_ps < state->paused_until_ps ? now_ps : 0;
}

bool etherport_paused(const struct etherport *port, int class, u64 now_ps)
{
	return port->classes[class].paused_until_ps > now_ps;
}

u64 etherport_paused_ns(struct etherport *port, int class)
{
	etherport_pause_account(&port->classes[class], etherport_now_ps());
	return div_u64(port->classes[class].paused_ps, 1000);
}

/* A later frame replaces the running timer (Annex 31B.3.3). */
static void etherport_pause_class(struct etherport *port, int class, u16 quanta, u64 now_ps)
{
	struct etherport_class *state = &port->classes[class];

	etherport_pause_account(state, now_ps);
	state->paused_until_ps = now_ps + etherport_quanta_ps(port, quanta);
	if (etherport_records())
		etherport_record_paused(port, class, quanta, state->paused_until_ps);
	if (!quanta)
		state->paused_since_ps = 0;
	else if (!state->paused_since_ps)
		state->paused_since_ps = now_ps;
}

/* PAUSE stops the MAC, whatever priorities there are behind it. */
static void etherport_pause_all(struct etherport *port, u16 quanta, u64 now_ps)
{
	int class;

	for (class = 0; class < port->class_count; class++)
		etherport_pause_class(port, class, quanta, now_ps);
}

/* What was heard and has had no effect yet never will. */
static void etherport_pause_forget(struct etherport *port)
{
	etherport_event_cancel(&port->heard_event);
	__skb_queue_purge(&port->pause_heard);
}

/* Who does not obey PAUSE any more does not wait for the end of the last one. */
void etherport_pause_over(struct etherport *port)
{
	etherport_pause_forget(port);
	etherport_pause_all(port, 0, etherport_now_ps());
}

static bool etherport_pfc_enabled(const struct etherport_control_frame *frame, int class)
{
	return ntohs(frame->pfc.enabled) & BIT(class);
}

static void etherport_pfc_count(struct etherport *port, const struct etherport_control_frame *frame)
{
	int class;

	for (class = 0; class < port->class_count; class++)
		if (etherport_pfc_enabled(frame, class))
			port->classes[class].pfc_indications++;
}

static void etherport_pfc_obey(struct etherport *port,
			       const struct etherport_control_frame *frame, u64 now_ps)
{
	int class;

	for (class = 0; class < port->class_count; class++)
		if (etherport_pfc_enabled(frame, class) && port->pfc & BIT(class))
			etherport_pause_class(port, class, ntohs(frame->pfc.quanta[class]), now_ps);
}

/*
 * A MAC control frame has left, of this MAC or of somebody in front of it who
 * makes such frames: both ends count it by what it says.
 */
void etherport_pause_sent(struct etherport *port, const struct sk_buff *skb, bool injected)
{
	struct etherport_control_frame frame;

	etherport_control_read(skb, &frame);
	port->count.tx_injected_frames += injected;
	if (frame.opcode == htons(ETHERPORT_OPCODE_PAUSE))
		port->count.tx_pause_frames++;
	else if (frame.opcode == htons(ETHERPORT_OPCODE_PFC))
		port->count.tx_pfc_frames++;
	else
		port->count.tx_unknown_control_frames++;
}

/* A received frame takes effect. A frame of data that is being sent is completed first. */
static void etherport_pause_obey(struct etherport *port, const struct sk_buff *skb, u64 now_ps)
{
	struct etherport_control_frame frame;

	etherport_control_read(skb, &frame);
	if (frame.opcode == htons(ETHERPORT_OPCODE_PFC))
		etherport_pfc_obey(port, &frame, now_ps);
	else if (port->pause_rx && !port->pfc)
		etherport_pause_all(port, ntohs(frame.quanta), now_ps);
	port->tx_kick(port);
}

static void etherport_heard_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, heard_event);
	u64 now_ps = etherport_now_ps();
	struct sk_buff *skb;

	while ((skb = skb_peek(&port->pause_heard))) {
		if (etherport_cb(skb)->arrival_ps > now_ps) {
			etherport_event_at(event, etherport_cb(skb)->arrival_ps, now_ps);
			return;
		}
		__skb_unlink(skb, &port->pause_heard);
		etherport_pause_obey(port, skb, now_ps);
		etherport_control_free(skb);
	}
}

/*
 * Annex 31B.3.7: the frame takes effect after the reaction time, and after those
 * that came before it. An XON on the heels of an XOFF is as late as that.
 */
static void etherport_pause_react(struct etherport *port, struct sk_buff *skb)
{
	bool idle = skb_queue_empty(&port->pause_heard);
	u64 now_ps = etherport_now_ps();

	if (idle && !port->pause_reaction_ns) {
		etherport_pause_obey(port, skb, now_ps);
		etherport_control_free(skb);
		return;
	}
	etherport_cb(skb)->arrival_ps = now_ps + port->pause_reaction_ns * 1000;
	__skb_queue_tail(&port->pause_heard, skb);
	if (idle)
		etherport_event_at(&port->heard_event, etherport_cb(skb)->arrival_ps, now_ps);
}

/* Counted at once, obeyed in time. Without a link nobody is to be obeyed. */
void etherport_pause_received(struct etherport *port, struct sk_buff *skb)
{
	struct etherport_control_frame frame;
	bool obey;

	etherport_control_read(skb, &frame);
	obey = netif_carrier_ok(port->dev) && etherport_control_is_for(port, &frame);
	switch (frame.opcode) {
	case htons(ETHERPORT_OPCODE_PAUSE):
		port->count.rx_pause_frames++;
		break;
	case htons(ETHERPORT_OPCODE_PFC):
		port->count.rx_pfc_frames++;
		obey = obey && !port->half;
		if (obey)
			etherport_pfc_count(port, &frame);
		break;
	default:
		port->count.rx_unknown_control_frames++;
		obey = false;
	}
	if (obey)
		etherport_pause_react(port, skb);
	else
		etherport_control_free(skb);
}

void etherport_pause_init(struct etherport *port, void (*tx_kick)(struct etherport *port))
{
	port->tx_kick = tx_kick;
	port->pause_quanta = ETHERPORT_QUANTA_MAX;
	etherport_event_init(&port->pause_event, etherport_pause_event);
	__skb_queue_head_init(&port->pause_heard);
	etherport_event_init(&port->heard_event, etherport_heard_event);
}

/* The link is gone, and with it whatever either end had asked for. */
void etherport_pause_stop(struct etherport *port)
{
	u64 now_ps = etherport_now_ps();
	int class;

	local_bh_disable();
	etherport_event_cancel(&port->pause_event);
	etherport_pause_forget(port);
	port->pause_pending = 0;
	for (class = 0; class < ETHERPORT_CLASSES; class++) {
		struct etherport_class *state = &port->classes[class];

		etherport_pause_account(state, now_ps);
		if (etherport_paused(port, class, now_ps))
			etherport_pause_class(port, class, 0, now_ps);
		state->xoff_sent = false;
	}
	local_bh_enable();
}
