// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a frame has to pass on its way between the wire and the stack: the bus
 * that the card is plugged into, and the CPU. Each takes one frame after the
 * other; all it needs to remember is until when it is busy.
 *
 * A bus moves a frame in transactions of limited size, each with a header, and
 * some bytes of descriptors and doorbells beside (PCI Express Base Specification
 * 2.2: TLPs; USB 3: packets). It has a lane for each direction.
 *
 * A CPU is one for all ports of a node, for both directions.
 */
#include "etherport.h"

static struct etherport_shared etherport_shared[ETHERPORT_SHARED_MAX];

/*
 * What ports share under a number from 1: a CPU, a packet memory. 0 is nothing.
 * It stays for as long as the lab: a frame may outlive the port by which it came.
 */
struct etherport_shared *etherport_shared_get(u32 number)
{
	if (!number)
		return NULL;
	if (number > ETHERPORT_SHARED_MAX)
		return ERR_PTR(-ERANGE);
	return &etherport_shared[number - 1];
}

u32 etherport_shared_number(const struct etherport_shared *shared)
{
	return shared ? shared - etherport_shared + 1 : 0;
}

/* Work that could begin at ``from_ps``. Returns when it is done. */
static u64 etherport_occupy(u64 *busy_until_ps, u64 from_ps, u64 cost_ps)
{
	*busy_until_ps = max(*busy_until_ps, from_ps) + cost_ps;
	return *busy_until_ps;
}

static u64 etherport_bus_cost_ps(const struct etherport_bus *bus, u32 len)
{
	u64 payload = bus->payload_bytes ? : len;
	u64 transactions = div64_u64(len + payload - 1, payload);
	u64 bytes = len + transactions * bus->overhead_bytes + bus->frame_bytes;

	return mul_u64_u64_div_u64(bytes * 8, 1000ULL * 1000 * 1000 * 1000, bus->bps);
}

/* When a frame that is ready now will have crossed the bus. */
u64 etherport_bus_transfer(const struct etherport_bus *bus, u64 *busy_until_ps,
			   u64 now_ps, u32 len)
{
	if (!bus->bps)
		return now_ps;
	return etherport_occupy(busy_until_ps, now_ps, etherport_bus_cost_ps(bus, len));
}

/* When the CPU will be done with a frame that waits for it now. */
u64 etherport_cpu_process(struct etherport *port, const struct etherport_cpu_cost *cost,
			  u64 now_ps, u32 len)
{
	struct etherport_shared *cpu = port->cpu;
	u64 cost_ps = cost->frame_ns * 1000 + cost->byte_ps * len;

	cost_ps += etherport_capture_frame(&port->capture, now_ps, len);
	if (!cpu || !cost_ps)
		return now_ps;
	cpu->cpu_busy_ps += cost_ps;
	return etherport_occupy(&cpu->cpu_busy_until_ps, now_ps, cost_ps);
}

/*
 * CPU and bus turn to the frames that are next, while the one before is on the
 * wire. Two of them, so that the bus can move one while the CPU is at the other;
 * not more, for the CPU has other work that waits, too.
 */
void etherport_tx_prefetch(struct etherport *port, struct sk_buff_head *ring, u64 now_ps)
{
	struct sk_buff *skb;
	int ahead = 0;

	skb_queue_walk(ring, skb) {
		struct etherport_cb *cb = etherport_cb(skb);
		u32 len = etherport_frame_len(skb);

		if (ahead++ == ETHERPORT_TX_PREFETCH)
			return;
		if (cb->ready_ps != ETHERPORT_NOT_READY)
			continue;
		cb->ready_ps = etherport_cpu_process(port, &port->cpu_tx, now_ps, len);
		cb->ready_ps = etherport_bus_transfer(&port->bus, &port->bus_tx_busy_until_ps,
						      cb->ready_ps, len);
	}
}
