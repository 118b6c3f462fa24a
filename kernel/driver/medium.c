// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half duplex: a medium that all stations share, one at a time.
 *
 * CSMA/CD of IEEE 802.3 clause 4: a station waits while it hears another one,
 * and the inter-frame gap after that; when two have begun within the time that
 * a signal takes from one to the other, both notice, jam, and try again after a
 * random number of slots from a range that doubles each time.
 *
 * A medium is the list of its stations: the two ends of a cable, or all that a
 * hub joins. It is as wide as its two most distant stations are apart. All state
 * is with the stations, so that a medium can be joined anew at any time.
 *
 * A station in full duplex may be among them, by a mistake of whoever set it: it
 * neither listens nor notices, and what it sends into a frame of another one is
 * lost with that frame.
 */
#include <linux/random.h>
#include <linux/rtnetlink.h>

#include "etherport.h"

/* Clause 4.4.2, in bit times */
#define ETHERPORT_SLOT_BITS	512
#define ETHERPORT_JAM_BITS	32
#define ETHERPORT_PREAMBLE_BITS	(8 * ETHERPORT_PREAMBLE_LEN)
#define ETHERPORT_IFG_BITS	(8 * ETHERPORT_IFG_LEN)
#define ETHERPORT_ATTEMPTS_MAX	16
#define ETHERPORT_BACKOFF_MAX	10

/* Clause 4.2.3.2.1: in the last third of the gap nobody listens any more. */
#define ETHERPORT_DEAF_BITS	(ETHERPORT_IFG_BITS / 3)

static bool etherport_hears(const struct etherport *port, const struct etherport *other, u64 at_ps)
{
	return other->sending && other->sending_from_ps + port->medium_delay_ps <= at_ps;
}

/* ``port`` notices at ``notice_ps`` that it is not alone: it jams and ends. */
static void etherport_collide(struct etherport *port, u64 notice_ps, u64 now_ps)
{
	u64 from_ps = port->sending_from_ps;

	if (!port->half) {
		port->tx_damaged = true;
		return;
	}
	if (port->collided || notice_ps >= port->sending_until_ps)
		return;

	port->collided = true;
	port->count.tx_collisions++;
	port->late = notice_ps > from_ps + etherport_bits_ps(port, ETHERPORT_SLOT_BITS);
	if (port->late)
		port->count.tx_late_collisions++;
	port->sending_until_ps =
		max(notice_ps, from_ps + etherport_bits_ps(port, ETHERPORT_PREAMBLE_BITS)) +
		etherport_bits_ps(port, ETHERPORT_JAM_BITS);
	etherport_event_at(&port->tx_event, port->sending_until_ps, now_ps);
}

/*
 * ``port`` begins. Whoever is sending and was not heard yet is in for it, and
 * who listens to nobody is a trouble to all.
 */
static void etherport_meet(struct etherport *port, u64 now_ps)
{
	u64 delay_ps = port->medium_delay_ps;
	struct etherport *other;

	list_for_each_entry(other, &port->medium, medium) {
		bool reached = port->sending_from_ps + delay_ps < other->sending_until_ps;

		if (!other->sending || (!other->half && !port->half))
			continue;
		if (reached || port->half)
			etherport_collide(port, other->sending_from_ps + delay_ps, now_ps);
		if (reached || !other->half)
			etherport_collide(other, port->sending_from_ps + delay_ps, now_ps);
	}
}

/* The first bit of the frame leaves. For a full-duplex port it is all there is to it. */
void etherport_medium_begin(struct etherport *port, u64 from_ps, u64 until_ps, u64 now_ps)
{
	port->sending = true;
	port->tx_begun = true;
	port->deferring = false;
	port->collided = false;
	port->sending_from_ps = from_ps;
	port->sending_until_ps = until_ps;
	etherport_meet(port, now_ps);
}

/* Send the frame, or see when to try again: at an instant, or when somebody is done. */
void etherport_medium_try(struct etherport *port, u64 now_ps)
{
	u64 deaf_ps = port->deferring ? etherport_bits_ps(port, ETHERPORT_DEAF_BITS) : 0;
	u64 idle_ps = port->sending_until_ps;
	struct etherport *other;
	u64 until_ps;

	list_for_each_entry(other, &port->medium, medium) {
		if (etherport_hears(port, other, now_ps - deaf_ps)) {
			port->deferring = true;
			port->deferred = true;
			return;
		}
		if (!other->sending)
			idle_ps = max(idle_ps, other->sending_until_ps + port->medium_delay_ps);
	}
	idle_ps = max3(idle_ps + etherport_bits_ps(port, ETHERPORT_IFG_BITS), port->backoff_ps,
		       port->tx_free_ps);
	if (idle_ps > now_ps) {
		port->deferring = true;
		etherport_event_at(&port->tx_event, idle_ps, now_ps);
		return;
	}
	until_ps = now_ps + etherport_wire_ps(port, port->tx_frame);
	etherport_event_at(&port->tx_event, until_ps, now_ps);
	etherport_medium_begin(port, now_ps, until_ps, now_ps);
}

/* The last bit is out, of the frame or of the jam: those who wait get their chance. */
static void etherport_medium_end(struct etherport *port, u64 now_ps)
{
	struct etherport *other;

	port->sending = false;
	/* Should the medium be its own from now on. */
	port->tx_free_ps = port->sending_until_ps + etherport_bits_ps(port, ETHERPORT_IFG_BITS);
	list_for_each_entry(other, &port->medium, medium)
		if (other->half && other->tx_frame && !other->tx_begun)
			etherport_medium_try(other, now_ps);
}

static void etherport_back_off(struct etherport *port, u64 now_ps)
{
	u32 slots = get_random_u32_below(1 << min(port->attempts, ETHERPORT_BACKOFF_MAX));

	port->backoff_ps = port->sending_until_ps +
			   etherport_bits_ps(port, ETHERPORT_SLOT_BITS) * slots;
	etherport_medium_try(port, now_ps);
}

static void etherport_count_attempts(struct etherport *port)
{
	/* Clause 30.3.1.1.9: who was in a collision is not among those who had to wait. */
	if (!port->attempts)
		port->count.tx_deferred += port->deferred;
	else if (port->attempts == 1)
		port->count.tx_single_collisions++;
	else
		port->count.tx_multiple_collisions++;
}

/*
 * The event of a station with a frame. True: the frame is out, or given up; what
 * is to be done about it is tx_given_up.
 */
bool etherport_medium_event(struct etherport *port, u64 now_ps)
{
	if (!port->sending) {
		etherport_medium_try(port, now_ps);
		return false;
	}
	etherport_medium_end(port, now_ps);
	if (port->half && port->collided) {
		port->attempts++;
		/*
		 * Clause 4.2.3.2 would try again after a late collision, too. The
		 * controllers do not (Intel 8254x manual: TCTL.RTLC is off; RTL8139:
		 * OWC), which is what makes a duplex mismatch so slow.
		 */
		port->tx_given_up = port->late || port->attempts == ETHERPORT_ATTEMPTS_MAX ||
				    !netif_carrier_ok(port->dev);
		if (!port->tx_given_up) {
			port->tx_begun = false;
			etherport_back_off(port, now_ps);
			return false;
		}
	} else {
		etherport_count_attempts(port);
	}
	port->attempts = 0;
	port->backoff_ps = 0;
	return true;
}

/* The link is gone: a frame that waited for the medium is lost. */
void etherport_medium_call_off(struct etherport *port)
{
	struct sk_buff *skb = port->tx_frame;

	etherport_event_cancel(&port->tx_event);
	port->tx_frame = NULL;
	port->deferring = false;
	port->backoff_ps = 0;
	if (port->tx_control) {
		kfree_skb(skb);
		return;
	}
	netdev_tx_completed_queue(skb_get_tx_queue(port->dev, skb), 1, skb->len);
	etherport_lose(port, skb, &port->count.tx_dropped_down);
}
