// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where each frame is at an instant, for who has stopped the clock there:
 *
 *   port <name> <link> <speed in Mbit/s> <paused until, in ps>
 *   <place> <bytes> <frames> <limit>	what the last port has there; a limit is of
 *					bytes or of frames, and 0 is none
 *   frame <number> <length> <segments> <first bytes, in hex>	one of them, in its order
 *
 * The frames of a queue come qdisc by qdisc, each as it has them: a FIFO in their
 * order, one of many flows flow by flow. What is still to be segmented has no
 * number yet. Who has them elsewhere and no walk of its own (patch 0022) has none here.
 */
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "etherport.h"
#include "prompt.h"

#define ETHERPORT_SHOW_HEADERS_LEN	64

static void etherport_show_frame(const struct sk_buff *skb)
{
	u8 headers[ETHERPORT_SHOW_HEADERS_LEN];
	u32 len = etherport_line_headers(skb, headers, sizeof(headers));

	etherport_prompt_print("frame %u %u %u %*phN\n", skb->secmark, etherport_line_len(skb),
			       max_t(u32, skb_shinfo(skb)->gso_segs, 1), (int)len, headers);
}

static void etherport_show_place(const char *name, u64 bytes, u32 frames, u64 limit)
{
	etherport_prompt_print("%s %llu %u %llu\n", name, bytes, frames, limit);
}

static void etherport_show_list(const char *name, const struct sk_buff_head *frames, u64 limit)
{
	const struct sk_buff *skb;
	u64 bytes = 0;

	skb_queue_walk(frames, skb)
		bytes += etherport_frame_len(skb);
	etherport_show_place(name, bytes, skb_queue_len(frames), limit);
	skb_queue_walk(frames, skb)
		etherport_show_frame(skb);
}

/* What it has taken from a class already comes first: that is the next to go. */
static void etherport_show_qdisc(struct Qdisc *qdisc)
{
	const struct sk_buff *skb;

	skb_queue_walk(&qdisc->gso_skb, skb)
		etherport_show_frame(skb);
	for (skb = qdisc->q.head; skb; skb = skb->next)
		etherport_show_frame(skb);
	if (qdisc->ops->frames)
		qdisc->ops->frames(qdisc, etherport_show_frame);
}

struct etherport_below {
	struct qdisc_walker walker;
	struct Qdisc *qdisc;
	int count;
};

static int etherport_below_class(struct Qdisc *qdisc, unsigned long class,
				 struct qdisc_walker *walker)
{
	struct etherport_below *below = container_of(walker, struct etherport_below, walker);
	struct Qdisc *leaf = qdisc->ops->cl_ops->leaf(qdisc, class);

	if (leaf) {
		below->qdisc = leaf;
		below->count++;
	}
	return 0;
}

/* Where all frames of a shaper wait; NULL: it keeps some itself, or has several such places. */
static struct Qdisc *etherport_queue_below(struct Qdisc *qdisc)
{
	struct etherport_below below = { .walker.fn = etherport_below_class };

	if (!qdisc->ops->cl_ops || qdisc->ops->frames)
		return NULL;
	qdisc->ops->cl_ops->walk(qdisc, &below.walker);
	return below.count == 1 ? below.qdisc : NULL;
}

static u64 etherport_queue_room_bytes(struct Qdisc *qdisc)
{
	struct Qdisc *below;

	while ((below = etherport_queue_below(qdisc)))
		qdisc = below;
	return etherport_queue_limit_bytes(qdisc);
}

/* With those of its classes, which the device has in a table. */
static void etherport_show_queue(const struct etherport *port, int class)
{
	const struct netdev_queue *txq = netdev_get_tx_queue(port->dev, class);
	struct Qdisc *root = rcu_dereference_bh(txq->qdisc), *qdisc;
	__u32 frames, bytes;
	int bucket;

	qdisc_qstats_qlen_backlog(root, &frames, &bytes);
	etherport_show_place("queue", etherport_queue_bytes(root), frames,
			     etherport_queue_room_bytes(root));
	etherport_show_qdisc(root);
	hash_for_each_rcu(port->dev->qdisc_hash, bucket, qdisc, hash)
		if (qdisc->dev_queue == txq && qdisc != root)
			etherport_show_qdisc(qdisc);
}

static void etherport_show_port(const struct etherport *port)
{
	u64 paused_until_ps = 0;
	int class;

	for (class = 0; class < port->class_count; class++)
		paused_until_ps = max(paused_until_ps, port->classes[class].paused_until_ps);
	etherport_prompt_print("port %s %d %u %llu\n", port->dev->name,
			       netif_carrier_ok(port->dev), port->speed_mbps, paused_until_ps);
	for (class = 0; class < port->class_count; class++) {
		etherport_show_queue(port, class);
		etherport_show_list("tx_ring", &port->classes[class].tx_ring, port->tx_ring_size);
	}
	etherport_show_place("wire", port->tx_frame ? etherport_frame_len(port->tx_frame) : 0,
			     !!port->tx_frame, 0);
	if (port->tx_frame)
		etherport_show_frame(port->tx_frame);
	etherport_show_list("cable", &port->flight, 0);
	etherport_show_place("buffer", port->buffer_used_bytes, 0, port->buffer_bytes);
	etherport_show_list("rx_fifo", &port->rx_fifo, 0);
	etherport_show_list("rx_ring", &port->rx_ring, port->rx_ring_size);
	etherport_show_list("rx_done", &port->rx_done, 0);
	etherport_show_list("forwarding", &port->forwarding, 0);
}

void etherport_show(void)
{
	struct net_device *dev;
	struct net *net;

	rcu_read_lock_bh();
	for_each_net_rcu(net)
		for_each_netdev_rcu(net, dev)
			if (etherport_is(dev))
				etherport_show_port(netdev_priv(dev));
	rcu_read_unlock_bh();
}
