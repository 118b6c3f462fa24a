// SPDX-License-Identifier: GPL-2.0-only
/* Settings no NIC has a tool for: /sys/class/net/<port>/etherport/ */
#include <linux/device.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>

#include "etherport.h"

/* A number up to ``most``, or the place of a word among ``words``, which end with NULL. */
struct etherport_attribute {
	struct device_attribute attr;
	size_t offset;		/* of the field, in struct etherport */
	u64 most;
	const char * const *words;
	bool (*busy)(const struct etherport *port);	/* not to be changed now; or NULL */
	int (*set)(struct etherport *port, void *field, u64 value);
};

static struct etherport *etherport_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static const struct etherport_attribute *etherport_attribute(struct device_attribute *attr)
{
	return container_of(attr, struct etherport_attribute, attr);
}

static void *etherport_field(struct device *dev, struct device_attribute *attr)
{
	return (void *)etherport_of(dev) + etherport_attribute(attr)->offset;
}

/*
 * Who deletes the port holds RTNL and waits for everybody who is at one of its
 * attributes. To wait for RTNL here would be to wait for each other for ever: let
 * go of the attribute and begin anew, as netdev_store() of net/core has it.
 */
static int etherport_lock(struct device *dev)
{
	if (!rtnl_trylock()) {
		/* Who holds it may be waiting for time to pass: it does not while one is busy. */
		schedule_timeout_interruptible(1);
		return restart_syscall();
	}
	if (to_net_dev(dev)->reg_state == NETREG_REGISTERED)
		return 0;
	rtnl_unlock();
	return -ENODEV;
}

static int etherport_parse(const struct etherport_attribute *attr, const char *buf, u64 *value)
{
	int err;

	if (attr->words) {
		int place = __sysfs_match_string(attr->words, -1, buf);

		*value = place;
		return min(place, 0);
	}
	err = kstrtou64(buf, 0, value);
	if (err)
		return err;
	return *value > attr->most ? -ERANGE : 0;
}

static ssize_t etherport_store(struct device *dev, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	const struct etherport_attribute *etherport_attr = etherport_attribute(attr);
	struct etherport *port = etherport_of(dev);
	u64 value;
	int err;

	err = etherport_lock(dev);
	if (err)
		return err;
	err = etherport_parse(etherport_attr, buf, &value);
	if (!err && etherport_attr->busy && etherport_attr->busy(port))
		err = -EBUSY;
	if (!err)
		err = etherport_attr->set(port, etherport_field(dev, attr), value);
	rtnl_unlock();
	return err ? : count;
}

#define ETHERPORT_ATTR(_name, _field, _most, _words, _show, _busy, _set)	\
static struct etherport_attribute dev_attr_##_name = {			\
	.attr = __ATTR(_name, 0644, _show, etherport_store),		\
	.offset = offsetof(struct etherport, _field),			\
	.most = _most,							\
	.words = _words,						\
	.busy = _busy,							\
	.set = _set,							\
}

#define ETHERPORT_U64(_name, _field, _most, _busy, _set)		\
	ETHERPORT_ATTR(_name, _field, _most, NULL, etherport_show_u64, _busy, _set)

#define ETHERPORT_WORD(_name, _field, _words, _busy)			\
	ETHERPORT_ATTR(_name, _field, 0, _words, etherport_show_word, _busy, etherport_set_word)

/* A card is not moved to another slot while it runs, for example: frames would be half way. */
static bool etherport_is_up(const struct etherport *port)
{
	return netif_running(port->dev);
}

/* A frame gives back the cells that it took. */
static bool etherport_holds_frames(const struct etherport *port)
{
	return port->buffer_used_bytes;
}

static bool etherport_in_use(const struct etherport *port)
{
	return etherport_is_up(port) || etherport_holds_frames(port);
}

static bool etherport_is_adapting(const struct etherport *port)
{
	return port->vector.adaptive || port->vector.tx_adaptive;
}

static ssize_t etherport_show_u64(struct device *dev, struct device_attribute *attr, char *buf)
{
	const u64 *value = etherport_field(dev, attr);

	return sysfs_emit(buf, "%llu\n", *value);
}

static int etherport_set_u64(struct etherport *port, void *field, u64 value)
{
	local_bh_disable();
	*(u64 *)field = value;
	if (port->pool)
		etherport_pool_watch(port->pool);
	etherport_pause_watch_all(port);
	local_bh_enable();
	return 0;
}

ETHERPORT_U64(buffer_bytes, buffer_bytes, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(buffer_cell_bytes, buffer_cell_bytes, ETHERPORT_MAX_CELL, etherport_holds_frames,
	      etherport_set_u64);
ETHERPORT_U64(xoff_bytes, xoff_bytes, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(xoff_alpha_128ths, xoff_alpha_128ths, ETHERPORT_MAX_ALPHA, NULL, etherport_set_u64);
ETHERPORT_U64(xon_bytes, xon_bytes, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(queue_limit_bytes, queue_limit_bytes, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(queue_alpha_128ths, queue_alpha_128ths, ETHERPORT_MAX_ALPHA, NULL, etherport_set_u64);

/* So slow a bus that the time of a frame has no room in a u64 is none. */
static int etherport_set_bus(struct etherport *port, void *field, u64 bps)
{
	if (bps && bps < ETHERPORT_MIN_BUS_BPS)
		return -ERANGE;
	return etherport_set_u64(port, field, bps);
}
ETHERPORT_U64(bus_bps, bus.bps, U64_MAX, etherport_is_up, etherport_set_bus);
ETHERPORT_U64(bus_payload_bytes, bus.payload_bytes, ETHERPORT_MAX_BUS_LEN, NULL, etherport_set_u64);
ETHERPORT_U64(bus_overhead_bytes, bus.overhead_bytes, ETHERPORT_MAX_BUS_LEN, NULL,
	      etherport_set_u64);
ETHERPORT_U64(bus_frame_bytes, bus.frame_bytes, ETHERPORT_MAX_BUS_LEN, NULL, etherport_set_u64);
ETHERPORT_U64(capture_frame_ns, capture.frame_ns, ETHERPORT_MAX_CAPTURE_NS, NULL,
	      etherport_set_u64);
ETHERPORT_U64(capture_backlog_bytes, capture.backlog_bytes, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(capture_bytes_per_s, capture.bytes_per_s, U64_MAX, NULL, etherport_set_u64);
ETHERPORT_U64(cpu_rx_frame_ns, cpu_rx.frame_ns, ETHERPORT_MAX_CPU_NS, NULL, etherport_set_u64);
ETHERPORT_U64(cpu_rx_byte_ps, cpu_rx.byte_ps, ETHERPORT_MAX_CPU_BYTE_PS, NULL, etherport_set_u64);
ETHERPORT_U64(cpu_tx_frame_ns, cpu_tx.frame_ns, ETHERPORT_MAX_CPU_NS, NULL, etherport_set_u64);
ETHERPORT_U64(cpu_tx_byte_ps, cpu_tx.byte_ps, ETHERPORT_MAX_CPU_BYTE_PS, NULL, etherport_set_u64);
/* What has been heard already takes effect when it was to. */
ETHERPORT_U64(pause_reaction_ns, pause_reaction_ns, ETHERPORT_MAX_REACTION_NS, NULL,
	      etherport_set_u64);
/* From the next time on that it has to negotiate. */
ETHERPORT_U64(autoneg_ms, autoneg_ms, ETHERPORT_MAX_AUTONEG_MS, NULL, etherport_set_u64);
/* Frames that wait go on when they would have; those behind them do not overtake. */
ETHERPORT_U64(forward_latency_ns, forward_latency_ns, ETHERPORT_MAX_DELAY_NS, NULL,
	      etherport_set_u64);

/* A cable is as long for one end as for the other. */
static int etherport_set_cable_delay(struct etherport *port, void *field, u64 delay_ns)
{
	local_bh_disable();
	port->cable_delay_ns = delay_ns;
	if (port->peer)
		port->peer->cable_delay_ns = delay_ns;
	local_bh_enable();
	/* Stations of a medium hear of each other later, or sooner. */
	etherport_resolve(port);
	return 0;
}
ETHERPORT_U64(cable_delay_ns, cable_delay_ns, ETHERPORT_MAX_DELAY_NS, NULL,
	      etherport_set_cable_delay);

/* What comes by a cable with errors from here on; the same number again draws anew. */
static int etherport_set_bits_per_error(struct etherport *port, void *field, u64 bits)
{
	local_bh_disable();
	etherport_bit_errors_set(&port->bit_errors, bits);
	local_bh_enable();
	return 0;
}
ETHERPORT_U64(bits_per_error, bit_errors.mean_bits, ETHERPORT_MAX_BITS, NULL,
	      etherport_set_bits_per_error);

static ssize_t etherport_show_quanta(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", etherport_of(dev)->pause_quanta);
}

static int etherport_set_quanta(struct etherport *port, void *field, u64 quanta)
{
	if (!quanta)
		return -EINVAL;
	port->pause_quanta = quanta;
	return 0;
}
ETHERPORT_ATTR(pause_quanta, pause_quanta, ETHERPORT_QUANTA_MAX, NULL, etherport_show_quanta, NULL,
	       etherport_set_quanta);

static ssize_t etherport_show_word(struct device *dev, struct device_attribute *attr, char *buf)
{
	const unsigned int *place = etherport_field(dev, attr);

	return sysfs_emit(buf, "%s\n", etherport_attribute(attr)->words[*place]);
}

static int etherport_set_word(struct etherport *port, void *field, u64 place)
{
	*(unsigned int *)field = place;
	return 0;
}

static int etherport_set_role(struct etherport *port, void *field, u64 role)
{
	return etherport_role_set(port, role);
}
ETHERPORT_ATTR(role, role, 0, etherport_roles, etherport_show_word, etherport_is_up,
	       etherport_set_role);

static const char * const etherport_moderations[] = {
	[ETHERPORT_FIRST] = "first",
	[ETHERPORT_LAST] = "last",
	[ETHERPORT_INTERVAL] = "interval",
	NULL
};

/* Frames that wait do so by the new rules. */
static int etherport_set_moderation(struct etherport *port, void *field, u64 place)
{
	local_bh_disable();
	port->vector.from = place;
	etherport_moderate_anew(port);
	local_bh_enable();
	return 0;
}
ETHERPORT_ATTR(rx_moderation, vector.from, 0, etherport_moderations, etherport_show_word, NULL,
	       etherport_set_moderation);

static const char * const etherport_algorithms[] = {
	[ETHERPORT_FIXED] = "none",
	[ETHERPORT_IXGBE] = "ixgbe",
	[ETHERPORT_IGB] = "igb",
	[ETHERPORT_E1000] = "e1000",
	[ETHERPORT_DIM] = "dim",
	NULL
};
ETHERPORT_WORD(rx_adaptive, vector.algorithm, etherport_algorithms, etherport_is_adapting);

#ifndef HAVE_DCBNL_APPTRUST
/* Where the kernel has no "dcb apptrust" yet. */
static const char * const etherport_trusts[] = {
	[ETHERPORT_PCP] = "pcp",
	[ETHERPORT_DSCP] = "dscp",
	NULL
};
ETHERPORT_WORD(trust, trust, etherport_trusts, NULL);
#endif

/* What ports with the same number have in common; 0: nothing. */
static ssize_t etherport_show_shared(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct etherport_shared **shared = etherport_field(dev, attr);

	return sysfs_emit(buf, "%u\n", etherport_shared_number(*shared));
}

static int etherport_set_shared(struct etherport *port, void *field, u64 number)
{
	struct etherport_shared *shared = etherport_shared_get(number);

	if (IS_ERR(shared))
		return PTR_ERR(shared);
	etherport_pool_leave(port);
	*(struct etherport_shared **)field = shared;
	etherport_pool_join(port);
	return 0;
}
ETHERPORT_ATTR(cpu, cpu, U32_MAX, NULL, etherport_show_shared, etherport_in_use,
	       etherport_set_shared);
ETHERPORT_ATTR(pool, pool, U32_MAX, NULL, etherport_show_shared, etherport_in_use,
	       etherport_set_shared);

static ssize_t etherport_show_pool_bytes(struct device *dev, struct device_attribute *attr,
					 char *buf)
{
	const struct etherport_shared *pool = READ_ONCE(etherport_of(dev)->pool);

	return sysfs_emit(buf, "%llu\n", pool ? pool->pool_bytes : 0);
}

static int etherport_set_pool_bytes(struct etherport *port, void *field, u64 bytes)
{
	return port->pool ? etherport_set_u64(port, &port->pool->pool_bytes, bytes) : -EINVAL;
}
ETHERPORT_ATTR(pool_bytes, pool, U64_MAX, NULL, etherport_show_pool_bytes, NULL,
	       etherport_set_pool_bytes);

static ssize_t follow_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_of(dev)->follow);
}

/* The port of this node without whose link this one has none; empty: it stands for itself. */
static int etherport_set_follow(struct etherport *port, const char *buf)
{
	size_t len = strcspn(buf, "\n");
	char name[IFNAMSIZ] = "";

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, buf, len);
	if (!strcmp(name, port->dev->name))
		return -EINVAL;

	strscpy(port->follow, name, sizeof(port->follow));
	etherport_resolve(port);
	return 0;
}

static ssize_t follow_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	int err = etherport_lock(dev);

	if (err)
		return err;
	err = etherport_set_follow(etherport_of(dev), buf);
	rtnl_unlock();
	return err ? : count;
}
static DEVICE_ATTR_RW(follow);

static struct attribute *etherport_sysfs_attrs[] = {
	&dev_attr_autoneg_ms.attr.attr,
	&dev_attr_bits_per_error.attr.attr,
	&dev_attr_buffer_bytes.attr.attr,
	&dev_attr_buffer_cell_bytes.attr.attr,
	&dev_attr_bus_bps.attr.attr,
	&dev_attr_bus_frame_bytes.attr.attr,
	&dev_attr_bus_overhead_bytes.attr.attr,
	&dev_attr_bus_payload_bytes.attr.attr,
	&dev_attr_cable_delay_ns.attr.attr,
	&dev_attr_capture_backlog_bytes.attr.attr,
	&dev_attr_capture_bytes_per_s.attr.attr,
	&dev_attr_capture_frame_ns.attr.attr,
	&dev_attr_cpu.attr.attr,
	&dev_attr_cpu_rx_byte_ps.attr.attr,
	&dev_attr_cpu_rx_frame_ns.attr.attr,
	&dev_attr_cpu_tx_byte_ps.attr.attr,
	&dev_attr_cpu_tx_frame_ns.attr.attr,
	&dev_attr_follow.attr,
	&dev_attr_forward_latency_ns.attr.attr,
	&dev_attr_pause_quanta.attr.attr,
	&dev_attr_pause_reaction_ns.attr.attr,
	&dev_attr_pool.attr.attr,
	&dev_attr_pool_bytes.attr.attr,
	&dev_attr_queue_alpha_128ths.attr.attr,
	&dev_attr_queue_limit_bytes.attr.attr,
	&dev_attr_role.attr.attr,
	&dev_attr_rx_adaptive.attr.attr,
	&dev_attr_rx_moderation.attr.attr,
#ifndef HAVE_DCBNL_APPTRUST
	&dev_attr_trust.attr.attr,
#endif
	&dev_attr_xoff_alpha_128ths.attr.attr,
	&dev_attr_xoff_bytes.attr.attr,
	&dev_attr_xon_bytes.attr.attr,
	NULL
};

const struct attribute_group etherport_sysfs_group = {
	.name = "etherport",
	.attrs = etherport_sysfs_attrs,
};
