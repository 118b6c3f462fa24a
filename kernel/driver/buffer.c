// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet buffer of a port: who fills it is who gets paused. It may be part
 * of a memory that ports share, and is then full when that is. The memory may be
 * divided into cells: a frame takes whole ones.
 *
 * A forwarded frame is charged to the port by which it came in until its last
 * bit has left the node, whichever queue it waits in meanwhile. The charge rides
 * on the skb's destructor, so that a frame which is dropped on the way (by a
 * qdisc, by Open vSwitch) gives its room back as well. It remembers the length:
 * the frame may gain or lose a VLAN tag before it leaves. For the stack a frame
 * that netem delays has left: it gives its room back when that takes it.
 */
#include <linux/slab.h>

#include "etherport.h"

struct etherport_charge {
	struct etherport *port;
	int class;
	u32 len;
};

static struct kmem_cache *etherport_charges;

int __init etherport_buffer_setup(void)
{
	etherport_charges = KMEM_CACHE(etherport_charge, 0);
	return etherport_charges ? 0 : -ENOMEM;
}

/* What a frame takes of the memory. */
u32 etherport_memory_len(const struct etherport *port, u32 len)
{
	return port->buffer_cell_bytes > 1 ? roundup(len, (u32)port->buffer_cell_bytes) : len;
}

/* Who is told when the thresholds of a shared memory move. */
void etherport_pool_join(struct etherport *port)
{
	local_bh_disable();
	if (port->pool)
		hlist_add_head(&port->pool_node, &port->pool->pool_ports);
	local_bh_enable();
}

/* What it has in there it gives back all the same. */
void etherport_pool_leave(struct etherport *port)
{
	local_bh_disable();
	hlist_del_init(&port->pool_node);
	local_bh_enable();
}

/* What is free has changed, and with it the thresholds of all who share. */
void etherport_pool_watch(const struct etherport_shared *pool)
{
	struct etherport *port;

	hlist_for_each_entry(port, &pool->pool_ports, pool_node)
		if (port->xoff_alpha_128ths)
			etherport_pause_watch_all(port);
}

static void etherport_pool_use(struct etherport *port, s64 bytes)
{
	if (!port->pool)
		return;
	port->pool->pool_used_bytes += bytes;
	etherport_pool_watch(port->pool);
}

static bool etherport_pool_full(const struct etherport_shared *pool, u32 len)
{
	return pool && pool->pool_bytes && pool->pool_used_bytes + len > pool->pool_bytes;
}

/* Make room for a frame. False: there is none, the frame is lost, and counted. */
bool etherport_buffer_take(struct etherport *port, int class, struct sk_buff *skb)
{
	u32 len = etherport_memory_len(port, etherport_frame_len(skb));

	if (port->classes[class].used_bytes + len > port->buffer_bytes) {
		port->count.rx_dropped_buffer++;
		if (etherport_records())
			etherport_record_drop(port, skb, &port->count.rx_dropped_buffer,
					      port->classes[class].used_bytes, port->buffer_bytes);
		return false;
	}
	if (etherport_pool_full(port->pool, len)) {
		port->count.rx_dropped_pool++;
		if (etherport_records())
			etherport_record_drop(port, skb, &port->count.rx_dropped_pool,
					      port->pool->pool_used_bytes, port->pool->pool_bytes);
		return false;
	}
	port->classes[class].used_bytes += len;
	port->buffer_used_bytes += len;
	if (port->buffer_used_bytes > port->buffer_high_water_bytes)
		port->buffer_high_water_bytes = port->buffer_used_bytes;
	if (etherport_records())
		etherport_record_fill_of(port, skb, ETHERPORT_RECORD_STORED, port->buffer_used_bytes, 0);
	etherport_pool_use(port, len);
	etherport_pause_watch(port, class);
	return true;
}

void etherport_buffer_give(struct etherport *port, int class, u32 len)
{
	len = etherport_memory_len(port, len);
	port->classes[class].used_bytes -= len;
	port->buffer_used_bytes -= len;
	if (etherport_records())
		etherport_record_fill_of(port, NULL, ETHERPORT_RECORD_GIVEN, port->buffer_used_bytes, 0);
	etherport_pool_use(port, -(s64)len);
	etherport_pause_watch(port, class);
}

static void etherport_buffer_discharge(struct sk_buff *skb)
{
	struct etherport_charge *charge = skb_shinfo(skb)->destructor_arg;

	skb_shinfo(skb)->destructor_arg = NULL;
	etherport_buffer_give(charge->port, charge->class, charge->len);
	dev_put(charge->port->dev);
	kmem_cache_free(etherport_charges, charge);
}

/*
 * Tie the room that etherport_buffer_take() made to the frame's life. The frame
 * holds its port: it may be waiting elsewhere when the port is deleted.
 */
bool etherport_buffer_charge(struct etherport *port, struct sk_buff *skb, int class, u32 len)
{
	struct etherport_charge *charge;

	charge = kmem_cache_alloc(etherport_charges, GFP_ATOMIC);
	if (!charge)
		return false;

	charge->port = port;
	charge->class = class;
	charge->len = len;
	dev_hold(port->dev);
	skb_shinfo(skb)->destructor_arg = charge;
	skb->destructor = etherport_buffer_discharge;
	return true;
}
