/* SPDX-License-Identifier: GPL-2.0-only */
/* Where frames wait: the packet buffer, and the egress queue in the same memory. */
#ifndef _ETHERPORT_MEMORY_H
#define _ETHERPORT_MEMORY_H

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#define ETHERPORT_FIFO_KIND	"etherfifo"	/* tc qdisc add */
#define ETHERPORT_MAX_CELL	65536
#define ETHERPORT_ALPHA_ONE	128		/* thresholds are set in 128ths */
#define ETHERPORT_MAX_ALPHA	(128 * ETHERPORT_ALPHA_ONE)

struct etherport;
struct Qdisc;

/* What ports have in common under a number, see bus_cpu.c and buffer.c */
struct etherport_shared {
	u64 cpu_busy_until_ps;
	u64 cpu_busy_ps;		/* all that it has worked */
	u64 pool_bytes;			/* 0: no limit */
	u64 pool_used_bytes;
	struct hlist_head pool_ports;	/* who is to hear of a change of its fill */
};

/*
 * A dynamic threshold (Choudhury and Hahne, 1998): alpha times what is free of
 * the memory that ports share. U64_MAX where there is no alpha or no memory.
 */
static inline u64 etherport_pool_share(const struct etherport_shared *pool, u64 alpha_128ths)
{
	u64 free_bytes;

	if (!alpha_128ths || !pool || !pool->pool_bytes)
		return U64_MAX;
	free_bytes = pool->pool_bytes - min(pool->pool_used_bytes, pool->pool_bytes);
	return free_bytes * alpha_128ths / ETHERPORT_ALPHA_ONE;
}

/* buffer.c */
int etherport_buffer_setup(void);
void etherport_pool_join(struct etherport *port);
void etherport_pool_leave(struct etherport *port);
void etherport_pool_watch(const struct etherport_shared *pool);
u32 etherport_memory_len(const struct etherport *port, u32 len);
bool etherport_buffer_take(struct etherport *port, int class, struct sk_buff *skb);
void etherport_buffer_give(struct etherport *port, int class, u32 len);
bool etherport_buffer_charge(struct etherport *port, struct sk_buff *skb, int class, u32 len);

/* fifo.c */
int etherport_fifo_setup(void);
u64 etherport_queue_bytes(struct Qdisc *qdisc);
u64 etherport_queue_limit_bytes(const struct Qdisc *qdisc);
u64 etherport_queues_bytes(struct etherport *port);
void etherport_queue_watch(struct etherport *port, const struct sk_buff *skb);

#endif /* _ETHERPORT_MEMORY_H */
