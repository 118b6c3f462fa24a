// SPDX-License-Identifier: GPL-2.0-only
/*
 * The egress queue of a switch, as a qdisc: a FIFO whose limit counts what the
 * packet memory does, whole cells of it. bfifo counts the bytes of the frames,
 * and holds six times as many short ones as a memory of 384-byte cells. The limit
 * may depend on what is free of a memory that ports share.
 *
 * Its settings are those of the port that it is put on, for iproute2 knows no
 * options of a qdisc that it does not know: "tc qdisc add dev p1 root etherfifo".
 */
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "etherport.h"

struct etherport_fifo {
	u64 used_bytes;		/* as memory counts */
};

struct etherport_fifo_cb {
	u32 len;		/* the same of one frame */
};

static struct etherport_fifo_cb *etherport_fifo_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct etherport_fifo_cb));
	return (struct etherport_fifo_cb *)qdisc_skb_cb(skb)->data;
}

static u32 etherport_fifo_len(const struct Qdisc *sch, const struct sk_buff *skb)
{
	/* A bridge has a tag beside the frame, which it is to leave with. */
	u32 len = qdisc_pkt_len(skb) + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);

	return etherport_memory_len(netdev_priv(qdisc_dev(sch)), max_t(u32, len, ETH_ZLEN));
}

/* The smaller of the two counts. The frame that is to wait is no longer free memory. */
static u64 etherport_fifo_limit(const struct Qdisc *sch)
{
	const struct etherport *port = netdev_priv(qdisc_dev(sch));

	return min(port->queue_limit_bytes ? : U64_MAX,
		   etherport_pool_share(port->pool, port->queue_alpha_128ths));
}

static int etherport_fifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct etherport_fifo *fifo = qdisc_priv(sch);
	u32 len = etherport_fifo_len(sch, skb);

	if (fifo->used_bytes + len > etherport_fifo_limit(sch))
		return qdisc_drop(skb, sch, to_free);

	etherport_fifo_cb(skb)->len = len;
	fifo->used_bytes += len;
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *etherport_fifo_dequeue(struct Qdisc *sch)
{
	struct etherport_fifo *fifo = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_head(sch);

	if (skb)
		fifo->used_bytes -= etherport_fifo_cb(skb)->len;
	return skb;
}

static void etherport_fifo_reset(struct Qdisc *sch)
{
	struct etherport_fifo *fifo = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	fifo->used_bytes = 0;
}

static int etherport_fifo_init(struct Qdisc *sch, struct nlattr *opt,
			       struct netlink_ext_ack *extack)
{
	if (etherport_is(qdisc_dev(sch)))
		return 0;
	NL_SET_ERR_MSG(extack, ETHERPORT_FIFO_KIND " is a queue of an etherport");
	return -EINVAL;
}

static struct Qdisc_ops etherport_fifo_ops __read_mostly = {
	.id		= ETHERPORT_FIFO_KIND,
	.priv_size	= sizeof(struct etherport_fifo),
	.enqueue	= etherport_fifo_enqueue,
	.dequeue	= etherport_fifo_dequeue,
	.peek		= qdisc_peek_head,
	.init		= etherport_fifo_init,
	.reset		= etherport_fifo_reset,
	.owner		= THIS_MODULE,
};

int __init etherport_fifo_setup(void)
{
	return register_qdisc(&etherport_fifo_ops);
}

/* What an egress queue holds, as it counts it itself. */
u64 etherport_queue_bytes(struct Qdisc *qdisc)
{
	__u32 frames, bytes;

	if (qdisc->ops == &etherport_fifo_ops) {
		const struct etherport_fifo *fifo = qdisc_priv(qdisc);

		return fifo->used_bytes;
	}
	qdisc_qstats_qlen_backlog(qdisc, &frames, &bytes);
	return bytes;
}

/* The most that it takes, in bytes; 0: it has another limit. */
u64 etherport_queue_limit_bytes(const struct Qdisc *qdisc)
{
	if (qdisc->ops == &etherport_fifo_ops)
		return etherport_fifo_limit(qdisc);
	return strcmp(qdisc->ops->id, "bfifo") ? 0 : qdisc->limit;
}

/* What all egress queues of a port hold: one qdisc for all TX queues, or one for each ("mq"). */
u64 etherport_queues_bytes(struct etherport *port)
{
	struct Qdisc *last = NULL;
	u64 bytes = 0;
	int class;

	for (class = 0; class < port->class_count; class++) {
		struct Qdisc *qdisc =
			rcu_dereference_bh(netdev_get_tx_queue(port->dev, class)->qdisc);

		if (qdisc != last)
			bytes += etherport_queue_bytes(qdisc);
		last = qdisc;
	}
	return bytes;
}

/*
 * An egress queue is longest just before a frame leaves it: this is where its
 * high water can be seen without a hook in the qdisc. The frame has its tag in it.
 */
void etherport_queue_watch(struct etherport *port, const struct sk_buff *skb)
{
	const struct Qdisc *qdisc =
		rcu_dereference_bh(skb_get_tx_queue(port->dev, skb)->qdisc);
	u32 len = qdisc->ops == &etherport_fifo_ops ?
		  etherport_memory_len(port, etherport_frame_len(skb)) : qdisc_pkt_len(skb);

	port->queue_high_water_bytes = max(port->queue_high_water_bytes,
					   etherport_queues_bytes(port) + len);
}
