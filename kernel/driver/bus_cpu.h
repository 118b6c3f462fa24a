/* SPDX-License-Identifier: GPL-2.0-only */
/* What takes time between the wire and the stack: bus_cpu.c. */
#ifndef _ETHERPORT_BUS_CPU_H
#define _ETHERPORT_BUS_CPU_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct etherport;
struct etherport_shared;

struct etherport_bus {
	u64 bps;			/* each direction, after line coding; 0: no limit */
	u64 payload_bytes;		/* of a transaction; 0: the whole frame */
	u64 overhead_bytes;		/* of a transaction */
	u64 frame_bytes;		/* descriptors and doorbells */
};

struct etherport_cpu_cost {
	u64 frame_ns;
	u64 byte_ps;
};

/* bus_cpu.c */
struct etherport_shared *etherport_shared_get(u32 number);
u32 etherport_shared_number(const struct etherport_shared *shared);
u64 etherport_bus_transfer(const struct etherport_bus *bus, u64 *busy_until_ps,
			   u64 now_ps, u32 len);
u64 etherport_cpu_process(struct etherport *port, const struct etherport_cpu_cost *cost,
			  u64 now_ps, u32 len);
void etherport_tx_prefetch(struct etherport *port, struct sk_buff_head *ring, u64 now_ps);

#endif /* _ETHERPORT_BUS_CPU_H */
