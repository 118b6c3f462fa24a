// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the qdisc to the cable: TX ring, serializer. complete.c tells of what left.
 *
 * One timer event a frame: when its last FCS bit leaves, the frame is handed to
 * the cable and the next one is started behind the inter-frame gap. A cable so
 * short that a bit crosses it within the shortest frame gets no event of its
 * own: the one event is when the last bit arrives, and the frame started at it
 * is dated back to the end of the gap.
 */
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "etherport.h"

static bool etherport_tx_data_on_wire(const struct etherport *port)
{
	return port->tx_frame && !port->tx_control;
}

/* Frames whose last bit has not left. */
u32 etherport_tx_waiting(const struct etherport *port)
{
	u32 waiting = etherport_tx_data_on_wire(port);
	int class;

	for (class = 0; class < port->class_count; class++)
		waiting += skb_queue_len(&port->classes[class].tx_ring);
	return waiting;
}

/* A frame keeps its descriptor until the host has heard that it has left. */
static bool etherport_tx_ring_full(const struct etherport *port, int class)
{
	bool on_wire = etherport_tx_data_on_wire(port) &&
		       skb_get_queue_mapping(port->tx_frame) == class;

	return skb_queue_len(&port->classes[class].tx_ring) + on_wire +
	       port->classes[class].left_frames >= port->tx_ring_size;
}

static bool etherport_cable_short(const struct etherport *port)
{
	u32 shortest = ETHERPORT_PREAMBLE_LEN + ETH_ZLEN + ETH_FCS_LEN;

	return port->cable_delay_ns * 1000 < (u64)shortest * port->byte_ps;
}

/* Stations of a medium need to know when a frame ends, not when it arrives. */
static u64 etherport_short_delay_ps(const struct etherport *port)
{
	if (port->half || !list_empty(&port->medium) || !etherport_cable_short(port))
		return 0;
	return port->cable_delay_ns * 1000;
}

static void etherport_tx_serialize(struct etherport *port, struct sk_buff *skb,
				   u64 start_ps, u64 now_ps)
{
	u64 end_ps = start_ps + etherport_wire_ps(port, skb);

	port->tx_frame = skb;
	port->tx_begun = !port->half;
	port->tx_given_up = false;
	port->tx_damaged = false;
	if (port->half) {
		port->attempts = 0;
		port->deferred = false;
		etherport_medium_try(port, now_ps);
		return;
	}
	port->tx_free_ps = end_ps + (u64)ETHERPORT_IFG_LEN * port->byte_ps;
	etherport_event_at(&port->tx_event, end_ps + etherport_short_delay_ps(port), now_ps);
	if (!list_empty(&port->medium))
		etherport_medium_begin(port, start_ps, end_ps, now_ps);
}

/*
 * After a change of the link: a frame that waited for a medium goes on by the new
 * rules. What it waited for may be the gap behind this port's own last frame.
 */
void etherport_tx_resume(struct etherport *port)
{
	bool waits = port->tx_frame && !port->tx_begun;
	u64 now_ps = etherport_now_ps();

	if (waits && (!port->half || !etherport_event_pending(&port->tx_event))) {
		etherport_event_cancel(&port->tx_event);
		etherport_tx_serialize(port, port->tx_frame, max(now_ps, port->tx_free_ps),
				       now_ps);
	} else {
		etherport_tx_kick(port);
	}
}

/*
 * The next frame of data, or NULL and the event that is to look again: the
 * highest priority first that has one and may send.
 */
static struct sk_buff *etherport_tx_next(struct etherport *port, u64 *start_ps, u64 now_ps)
{
	u64 again_ps = U64_MAX;
	int class = port->class_count;

	while (class--) {
		struct sk_buff *skb = skb_peek(&port->classes[class].tx_ring);
		u64 may_ps;

		if (!skb)
			continue;
		if (etherport_tx_takes_time(port))
			etherport_tx_prefetch(port, &port->classes[class].tx_ring, now_ps);
		/* The line may have been free before now, and the pause over since. */
		may_ps = max(port->classes[class].paused_until_ps, etherport_cb(skb)->ready_ps);
		if (may_ps > now_ps && may_ps > *start_ps) {
			again_ps = min(again_ps, may_ps);
			continue;
		}
		*start_ps = max(*start_ps, may_ps);
		__skb_unlink(skb, &port->classes[class].tx_ring);
		if (etherport_tx_takes_time(port))
			etherport_tx_prefetch(port, &port->classes[class].tx_ring, now_ps);
		return skb;
	}
	if (again_ps != U64_MAX)
		etherport_event_at(&port->tx_event, again_ps, now_ps);
	return NULL;
}

/*
 * When a frame may start that is there by now: behind the gap of the last one,
 * which may be over, if it waited for the end of that, in the ring or in a queue
 * that was stopped. That end is noticed as late as a short cable is long, and up
 * to 50 ns later where a process reads the clock. What came in between starts
 * when it came: of a frame ready_ps, of a PAUSE frame pause_due_ps.
 */
static u64 etherport_tx_start_ps(const struct etherport *port, u64 now_ps)
{
	return now_ps <= port->tx_noticed_ps ? port->tx_free_ps : max(now_ps, port->tx_free_ps);
}

/*
 * Start the next frame, if there is one and it may go. PAUSE frames go ahead of
 * data and also while this port is itself paused (802.3 Annex 31B.3.4).
 */
static void etherport_tx_go_on(struct etherport *port, u64 now_ps)
{
	u64 start_ps = etherport_tx_start_ps(port, now_ps);
	struct sk_buff *skb = etherport_pause_next(port, &start_ps);

	port->tx_control = skb;
	if (!skb)
		skb = etherport_tx_next(port, &start_ps, now_ps);
	if (skb)
		etherport_tx_serialize(port, skb, start_ps, now_ps);
}

/* There may be something to send. */
void etherport_tx_kick(struct etherport *port)
{
	if (!port->tx_frame && netif_carrier_ok(port->dev))
		etherport_tx_go_on(port, etherport_now_ps());
}

/* The last bit has left. */
static void etherport_tx_done(struct etherport *port, struct sk_buff *skb, u64 now_ps)
{
	if (etherport_records())
		etherport_record_sent(port, skb, now_ps - etherport_short_delay_ps(port),
				      etherport_tx_waiting(port));
	if (!port->peer) {
		if (port->tx_control)
			kfree_skb(skb);
		else
			etherport_lose(port, skb, &port->count.tx_dropped_down);
		return;
	}
	if (etherport_is_control(skb)) {
		etherport_pause_sent(port, skb, !port->tx_control);
	} else {
		port->count.tx_frames++;
		port->count.tx_bytes += etherport_frame_len(skb);
	}
	etherport_cb(skb)->of_the_mac = port->tx_control;
	etherport_cb(skb)->damaged = port->tx_damaged;
	etherport_cb(skb)->bit_error = false;
	etherport_cable_send(port, skb, now_ps - etherport_short_delay_ps(port), now_ps);
}

/* A late collision, or excessive ones: sixteen attempts, none of them alone. Or a link that is gone. */
static void etherport_tx_give_up(struct etherport *port, struct sk_buff *skb)
{
	if (!netif_carrier_ok(port->dev)) {
		etherport_lose(port, skb, &port->count.tx_dropped_down);
		return;
	}
	if (!port->late)
		port->count.tx_excessive_collisions++;
	etherport_lose(port, skb, &port->count.tx_dropped_collisions);
}

void etherport_tx_wake(struct etherport *port)
{
	int class;

	for (class = 0; class < port->class_count; class++) {
		struct netdev_queue *queue = netdev_get_tx_queue(port->dev, class);

		if (netif_tx_queue_stopped(queue) && !etherport_tx_ring_full(port, class))
			netif_tx_wake_queue(queue);
	}
}

/* The last bit of a frame has left: that is noticed now, and who waits for it may start before. */
static void etherport_tx_notice(struct etherport *port, u64 now_ps)
{
	int class;

	port->tx_noticed_ps = now_ps;
	for (class = 0; class < port->class_count; class++)
		port->classes[class].queue_waits =
			netif_xmit_stopped(netdev_get_tx_queue(port->dev, class));
}

/* The frame on the wire is out, or the pause is over, or a frame has become ready. */
static void etherport_tx_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, tx_event);
	struct sk_buff *skb = port->tx_frame;
	u64 now_ps = etherport_now_ps();

	if (skb && (port->sending || !port->tx_begun) && !etherport_medium_event(port, now_ps))
		return;

	if (skb && !port->half && list_empty(&port->medium))
		etherport_tx_notice(port, now_ps);

	if (skb) {
		/* It stays tx_frame, so that nobody who learns of it starts another. */
		if (!port->tx_control)
			etherport_tx_complete(port, skb, now_ps);
		port->tx_frame = NULL;
		if (port->tx_given_up)
			etherport_tx_give_up(port, skb);
		else
			etherport_tx_done(port, skb, now_ps);
	}
	if (!port->tx_frame && netif_carrier_ok(port->dev))
		etherport_tx_go_on(port, now_ps);
	etherport_tx_wake(port);
}

/* What the frame has left behind it in the egress queue. */
static u64 etherport_tx_queued_bytes(const struct etherport *port, const struct sk_buff *skb)
{
	return etherport_queue_bytes(rcu_dereference_bh(skb_get_tx_queue(port->dev, skb)->qdisc));
}

static void etherport_tx_enqueue(struct etherport *port, struct sk_buff *skb)
{
	struct etherport_class *class = &port->classes[skb_get_queue_mapping(skb)];
	struct sk_buff_head *ring = &class->tx_ring;
	u64 now_ps = etherport_now_ps();
	bool waited = class->queue_waits && now_ps <= port->tx_noticed_ps;

	skb_reset_mac_header(skb);
	skb_tx_timestamp(skb);
	netdev_tx_sent_queue(skb_get_tx_queue(port->dev, skb), skb->len);
	__skb_queue_tail(ring, skb);
	if (etherport_records())
		etherport_record_fill_of(port, skb, ETHERPORT_RECORD_TX_RING,
					 etherport_tx_queued_bytes(port, skb),
					 skb_queue_len(ring));
	etherport_cb(skb)->ready_ps = waited ? 0 : now_ps;
	if (etherport_tx_takes_time(port)) {
		etherport_cb(skb)->ready_ps = ETHERPORT_NOT_READY;
		if (skb_queue_len(ring) <= ETHERPORT_TX_PREFETCH)
			etherport_tx_prefetch(port, ring, now_ps);
	}
}

/* What TSO hardware does: the headers again in front of each segment. */
static void etherport_tx_segment(struct etherport *port, struct sk_buff *skb)
{
	netdev_features_t features = NETIF_F_SG | NETIF_F_HW_CSUM;
	struct sk_buff *segs, *next;

	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs)) {
		etherport_lose(port, skb, &port->count.tx_dropped_error);
		return;
	}
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		etherport_tx_enqueue(port, segs);
	}
	consume_skb(skb);
}

netdev_tx_t etherport_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct etherport *port = netdev_priv(dev);
	int class = skb_get_queue_mapping(skb);

	if (!netif_carrier_ok(dev) || port->role == ETHERPORT_REPEAT) {
		etherport_lose(port, skb, &port->count.tx_dropped_down);
		return NETDEV_TX_OK;
	}
	etherport_queue_watch(port, skb);
	if (etherport_records())
		etherport_record_connection(port, skb->sk);

	/*
	 * A TCP frame is a clone that shares its data with the sender's
	 * retransmit queue. The receiver's GRO will write to it: unshare.
	 */
	if (skb_unclone(skb, GFP_ATOMIC)) {
		etherport_lose(port, skb, &port->count.tx_dropped_error);
		return NETDEV_TX_OK;
	}
	if (skb_is_gso(skb))
		etherport_tx_segment(port, skb);
	else
		etherport_tx_enqueue(port, skb);

	if (etherport_tx_ring_full(port, class))
		netif_tx_stop_queue(netdev_get_tx_queue(dev, class));
	etherport_tx_kick(port);
	return NETDEV_TX_OK;
}

void etherport_tx_init(struct etherport *port)
{
	int class;

	for (class = 0; class < ETHERPORT_CLASSES; class++)
		__skb_queue_head_init(&port->classes[class].tx_ring);
	etherport_event_init(&port->tx_event, etherport_tx_event);
	INIT_LIST_HEAD(&port->medium);
}

/* Nothing is under way, for BQL either. */
static void etherport_tx_reset(struct etherport *port)
{
	int class;

	for (class = 0; class < port->class_count; class++)
		netdev_tx_reset_queue(netdev_get_tx_queue(port->dev, class));
}

void etherport_tx_start(struct etherport *port)
{
	etherport_tx_reset(port);
	netif_tx_start_all_queues(port->dev);
}

/* The link is gone, and with it what has not begun to leave. A frame on the wire arrives. */
void etherport_tx_flush(struct etherport *port)
{
	int class;

	if (port->tx_frame && !port->tx_begun)
		etherport_medium_call_off(port);
	for (class = 0; class < port->class_count; class++) {
		struct netdev_queue *queue = netdev_get_tx_queue(port->dev, class);
		struct sk_buff *skb;

		while ((skb = __skb_dequeue(&port->classes[class].tx_ring))) {
			netdev_tx_completed_queue(queue, 1, skb->len);
			etherport_lose(port, skb, &port->count.tx_dropped_down);
		}
	}
	if (netif_running(port->dev))
		etherport_tx_wake(port);
}

/* Frames that were waiting or half sent are lost. What is on the cable arrives. */
void etherport_tx_stop(struct etherport *port)
{
	int class;

	netif_tx_disable(port->dev);
	local_bh_disable();
	etherport_event_cancel(&port->tx_event);
	etherport_event_cancel(&port->left_event);
	etherport_tx_reclaim(port);
	if (etherport_tx_data_on_wire(port))
		etherport_lose(port, port->tx_frame, &port->count.tx_dropped_down);
	else
		kfree_skb(port->tx_frame);
	port->tx_frame = NULL;
	port->sending = false;
	for (class = 0; class < port->class_count; class++)
		etherport_lose_all(port, &port->classes[class].tx_ring,
				   &port->count.tx_dropped_down);
	etherport_tx_reset(port);
	local_bh_enable();
}
