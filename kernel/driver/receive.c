// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the cable to whoever wants the frame; and the interrupt, of both directions.
 *
 * A switch or module passes a frame on, see forward.c. A host's frame waits
 * in the RX ring for the interrupt, and in the packet buffer while the ring is
 * full or the bus is busy. The interrupt comes when so many frames wait, or when
 * moderation.c lets it; a zero takes its condition away, two of them all
 * moderation. Where frames cost CPU time, the ring is emptied no faster than the
 * CPU can.
 */
#include <linux/if_vlan.h>

#include "etherport.h"

static bool etherport_rx_costs_cpu(const struct etherport *port)
{
	return port->cpu && (port->cpu_rx.frame_ns || port->cpu_rx.byte_ps ||
			     port->capture.backlog_bytes);
}

/*
 * The CPU turns to what is in the RX ring, a budget full at most, as NAPI does.
 * Whatever else waits for it, a sending process too, gets its turn afterwards.
 */
static void etherport_rx_work(struct etherport *port)
{
	u64 now_ps = etherport_now_ps();
	u64 done_ps = now_ps;
	struct sk_buff *skb;

	port->cpu_batch = 0;
	skb_queue_walk(&port->rx_ring, skb) {
		done_ps = etherport_cpu_process(port, &port->cpu_rx, now_ps,
						etherport_frame_len(skb));
		if (++port->cpu_batch == NAPI_POLL_WEIGHT)
			break;
	}
	etherport_event_at(&port->cpu_event, done_ps, now_ps);
}

/* Nobody needs an interrupt: the host is at it, or looks again by itself. */
static bool etherport_rx_busy(const struct etherport *port)
{
	return test_bit(NAPI_STATE_SCHED, &port->napi.state) || port->rx_masked ||
	       etherport_event_pending(&port->cpu_event);
}

static void etherport_interrupt(struct etherport *port)
{
	if (etherport_rx_busy(port))
		return;
	etherport_event_cancel(&port->rx_event);
	etherport_event_cancel(&port->left_event);
	port->count.interrupts++;
	port->vector.interrupt_ps = etherport_now_ps();
	if (etherport_rx_costs_cpu(port))
		etherport_rx_work(port);
	else
		napi_schedule(&port->napi);
}

/*
 * How many frames are an interrupt at once. No more than the ring takes where no
 * time does it: nobody waits, or each frame has the wait begin anew.
 */
static u32 etherport_rx_batch(const struct etherport *port)
{
	u32 frames = port->vector.max_frames;

	if (port->vector.usecs && !frames)
		frames = U32_MAX;
	if (port->vector.usecs && port->vector.from != ETHERPORT_LAST)
		return frames;
	return min(frames, port->rx_ring_size);
}

/* Whether the frames that wait are an interrupt, or when they will be. */
void etherport_rx_moderate(struct etherport *port)
{
	u32 frames = skb_queue_len(&port->rx_ring);
	u64 now_ps, due_ps;

	if (!frames || etherport_rx_busy(port))
		return;
	if (frames >= etherport_rx_batch(port)) {
		etherport_interrupt(port);
		return;
	}
	if (!port->vector.usecs ||
	    (etherport_event_pending(&port->rx_event) && port->vector.from != ETHERPORT_LAST))
		return;
	now_ps = etherport_now_ps();
	due_ps = etherport_interrupt_at(&port->vector, port->vector.usecs, now_ps);
	if (due_ps <= now_ps)
		etherport_interrupt(port);
	else
		etherport_event_at(&port->rx_event, due_ps, now_ps);
}

/* Frames that wait, of both directions, do so by rules that have changed. */
void etherport_moderate_anew(struct etherport *port)
{
	etherport_event_cancel(&port->rx_event);
	etherport_event_cancel(&port->left_event);
	etherport_rx_moderate(port);
	etherport_tx_moderate(port, etherport_now_ps());
}

static void etherport_rx_event(struct etherport_event *event)
{
	etherport_interrupt(container_of(event, struct etherport, rx_event));
}

static void etherport_left_event(struct etherport_event *event)
{
	etherport_interrupt(container_of(event, struct etherport, left_event));
}

static bool etherport_rx_ring_full(const struct etherport *port)
{
	return skb_queue_len(&port->rx_ring) >= port->rx_ring_size;
}

static void etherport_rx_ring_add(struct etherport *port, struct sk_buff *skb)
{
	__skb_queue_tail(&port->rx_ring, skb);
	if (etherport_records())
		etherport_record_fill_of(port, skb, ETHERPORT_RECORD_RX_RING, 0,
					 skb_queue_len(&port->rx_ring));
}

/* What waits in the packet buffer moves on into the RX ring. */
static void etherport_rx_to_ring(struct etherport *port)
{
	struct sk_buff *skb = __skb_dequeue(&port->rx_fifo);

	etherport_buffer_give(port, etherport_cb(skb)->class, etherport_frame_len(skb));
	etherport_rx_ring_add(port, skb);
}

/*
 * The bus takes the next frame, if there is a descriptor that says where to. It
 * could have done so at ``from_ps``, or when it was through with the one before.
 */
static void etherport_rx_move(struct etherport *port, u64 from_ps, u64 now_ps)
{
	struct sk_buff *skb = skb_peek(&port->rx_fifo);

	if (!skb || etherport_rx_ring_full(port) || etherport_event_pending(&port->bus_event))
		return;

	etherport_event_at(&port->bus_event,
			   etherport_bus_transfer(&port->bus, &port->bus_rx_busy_until_ps, from_ps,
						  etherport_frame_len(skb)),
			   now_ps);
}

static bool etherport_rx_store(struct etherport *port, struct sk_buff *skb)
{
	int class = etherport_class_of(port, skb);
	u64 now_ps;

	if (!etherport_buffer_take(port, class, skb))
		return false;
	etherport_cb(skb)->class = class;
	__skb_queue_tail(&port->rx_fifo, skb);
	if (port->bus.bps) {
		now_ps = etherport_now_ps();
		etherport_cb(skb)->arrival_ps = now_ps;
		etherport_rx_move(port, now_ps, now_ps);
	}
	return true;
}

static void etherport_bus_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, bus_event);

	struct sk_buff *next;

	etherport_rx_to_ring(port);
	next = skb_peek(&port->rx_fifo);
	if (next)
		etherport_rx_move(port, etherport_cb(next)->arrival_ps, etherport_now_ps());
	etherport_rx_moderate(port);
}

/* Descriptors came free. */
static void etherport_rx_refill(struct etherport *port)
{
	if (port->bus.bps) {
		u64 now_ps = etherport_now_ps();

		etherport_rx_move(port, now_ps, now_ps);
		return;
	}
	while (!etherport_rx_ring_full(port) && !skb_queue_empty(&port->rx_fifo))
		etherport_rx_to_ring(port);
}

static void etherport_rx_host(struct etherport *port, struct sk_buff *skb)
{
	if (!port->bus.bps && skb_queue_empty(&port->rx_fifo) && !etherport_rx_ring_full(port)) {
		etherport_rx_ring_add(port, skb);
		etherport_rx_moderate(port);
	} else if (!etherport_rx_store(port, skb)) {
		kfree_skb(skb);
	}
}

/*
 * What is for somebody else, on a hub or flooded by a switch, a card does not let
 * in. Who wants to see it, or has more addresses than one, makes it promiscuous.
 */
static bool etherport_is_for(const struct etherport *port, const struct sk_buff *skb)
{
	const u8 *destination = eth_hdr(skb)->h_dest;

	return is_multicast_ether_addr(destination) || port->dev->flags & IFF_PROMISC ||
	       ether_addr_equal(destination, port->dev->dev_addr);
}

/* The CPU is through with what it had turned to. */
static void etherport_cpu_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, cpu_event);

	while (port->cpu_batch) {
		__skb_queue_tail(&port->rx_done, __skb_dequeue(&port->rx_ring));
		port->cpu_batch--;
	}
	if (!skb_queue_empty(&port->rx_fifo))
		etherport_rx_refill(port);
	napi_schedule(&port->napi);
}

static struct sk_buff *etherport_rx_next(struct etherport *port)
{
	struct sk_buff *skb = __skb_dequeue(&port->rx_done);

	/* What the CPU is at is not there yet, whatever it costs by now. */
	if (skb || etherport_rx_costs_cpu(port) || etherport_event_pending(&port->cpu_event))
		return skb;
	skb = __skb_dequeue(&port->rx_ring);
	if (skb && !skb_queue_empty(&port->rx_fifo))
		etherport_rx_refill(port);
	return skb;
}

static int etherport_poll(struct napi_struct *napi, int budget)
{
	struct etherport *port = container_of(napi, struct etherport, napi);
	struct sk_buff *skb;
	int done = 0;

	etherport_tx_reclaim(port);
	etherport_tx_wake(port);
	while (done < budget && (skb = etherport_rx_next(port))) {
		u32 len = etherport_frame_len(skb);

		done++;
		if (etherport_records())
			etherport_record_fill_of(port, skb, ETHERPORT_RECORD_HANDED, 0,
						 skb_queue_len(&port->rx_ring));
		if (!etherport_strip(port, skb)) {
			etherport_lose(port, skb, &port->count.rx_dropped_error);
			continue;
		}
		etherport_count_received(port, len);
		port->vector.rx.frames++;
		port->vector.rx.bytes += len;
		napi_gro_receive(napi, skb);
	}
	if (done < budget) {
		/* With napi_defer_hard_irqs the stack looks again by itself, uninterrupted. */
		port->rx_masked = !napi_complete_done(napi, done);
		/* What came while the CPU was at it is of the same interrupt, as it is for NAPI. */
		if (skb_queue_empty(&port->rx_ring)) {
			etherport_adapt(&port->vector, port->speed_mbps, etherport_now_ps());
			etherport_tx_moderate(port, etherport_now_ps());
		} else if (!etherport_event_pending(&port->cpu_event)) {
			etherport_rx_work(port);
		}
	}
	return done;
}

/* A frame's last bit has arrived. */
void etherport_receive(struct etherport *port, struct sk_buff *skb)
{
	struct etherport_cb *cb = etherport_cb(skb);

	skb->dev = port->dev;
	if (etherport_records())
		etherport_record_frame_is(port, skb, ETHERPORT_RECORD_ARRIVED);
	etherport_count_size(port->rx_sizes, skb);
	if (etherport_bit_errors_hit(&port->bit_errors, skb))
		cb->bit_error = true;
	if (unlikely(etherport_is_control(skb))) {
		if (cb->bit_error || cb->damaged) {
			etherport_lose(port, skb, &port->count.rx_damaged_control_frames);
			return;
		}
		etherport_pause_received(port, skb);
		return;
	}

	port->count.rx_wire_frames++;
	if (cb->damaged) {
		etherport_lose(port, skb, &port->count.rx_dropped_collision);
	} else if (!netif_running(port->dev)) {
		etherport_lose(port, skb, &port->count.rx_dropped_down);
	} else if (cb->bit_error && port->role != ETHERPORT_REPEAT) {
		/* A repeater passes bits on, however many, and looks at none of them. */
		etherport_lose(port, skb, &port->count.rx_dropped_fcs);
	} else if (port->role == ETHERPORT_REPEAT) {
		etherport_repeat(port, skb);
	} else if (skb->len > port->dev->mtu + ETH_HLEN + VLAN_HLEN) {
		etherport_lose(port, skb, &port->count.rx_dropped_oversize);
	} else if (port->role != ETHERPORT_HOST) {
		etherport_forward(port, skb);
	} else if (!etherport_is_for(port, skb)) {
		port->count.rx_filtered_frames++;
		kfree_skb(skb);
	} else {
		etherport_rx_host(port, skb);
	}
}

void etherport_rx_init(struct etherport *port)
{
	etherport_forward_init(port);
	__skb_queue_head_init(&port->rx_ring);
	__skb_queue_head_init(&port->rx_fifo);
	__skb_queue_head_init(&port->rx_done);
	etherport_event_init(&port->rx_event, etherport_rx_event);
	etherport_event_init(&port->bus_event, etherport_bus_event);
	etherport_event_init(&port->cpu_event, etherport_cpu_event);
	etherport_complete_init(port, etherport_left_event);
	etherport_adapt_init(&port->vector);
	netif_napi_add(port->dev, &port->napi, etherport_poll);
}

void etherport_rx_start(struct etherport *port)
{
	port->vector.interrupt_ps = 0;
	port->rx_masked = false;
	napi_enable(&port->napi);
}

void etherport_rx_stop(struct etherport *port)
{
	struct sk_buff *skb;

	etherport_forward_stop(port);
	napi_disable(&port->napi);
	etherport_adapt_stop(&port->vector);

	local_bh_disable();
	etherport_event_cancel(&port->rx_event);
	etherport_event_cancel(&port->bus_event);
	etherport_event_cancel(&port->cpu_event);
	while ((skb = __skb_dequeue(&port->rx_fifo))) {
		etherport_buffer_give(port, etherport_cb(skb)->class, etherport_frame_len(skb));
		etherport_lose(port, skb, &port->count.rx_dropped_down);
	}
	etherport_lose_all(port, &port->rx_ring, &port->count.rx_dropped_down);
	etherport_lose_all(port, &port->rx_done, &port->count.rx_dropped_down);
	local_bh_enable();
}
