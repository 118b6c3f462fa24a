// SPDX-License-Identifier: GPL-2.0-only
/* Settings no NIC has a tool for: /sys/class/net/<port>/etherport/ */
#include <linux/device.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>

#include "etherport.h"

struct etherport_attribute {
	struct device_attribute attr;
	size_t offset;		/* of the field, in struct etherport */
	int (*set)(struct etherport *port, void *field, const char *buf);
};

static struct etherport *etherport_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static void *etherport_field(struct device *dev, struct device_attribute *attr)
{
	const struct etherport_attribute *etherport_attr =
		container_of(attr, struct etherport_attribute, attr);

	return (void *)etherport_of(dev) + etherport_attr->offset;
}

/*
 * Who deletes the port holds RTNL and waits for everybody who is at one of its
 * attributes. To wait for RTNL here would be to wait for each other for ever: let
 * go of the attribute and begin anew, as netdev_store() of net/core has it.
 */
static ssize_t etherport_store(struct device *dev, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	const struct etherport_attribute *etherport_attr =
		container_of(attr, struct etherport_attribute, attr);
	int err = -ENODEV;

	if (!rtnl_trylock()) {
		/* Who holds it may be waiting for time to pass: it does not while one is busy. */
		schedule_timeout_interruptible(1);
		return restart_syscall();
	}
	if (to_net_dev(dev)->reg_state == NETREG_REGISTERED)
		err = etherport_attr->set(etherport_of(dev), etherport_field(dev, attr), buf);
	rtnl_unlock();
	return err ? : count;
}

#define ETHERPORT_ATTR(_name, _field, _show, _set)			\
static struct etherport_attribute dev_attr_##_name = {			\
	.attr = __ATTR(_name, 0644, _show, etherport_store),		\
	.offset = offsetof(struct etherport, _field),			\
	.set = _set,							\
}

static ssize_t etherport_show_u64(struct device *dev, struct device_attribute *attr, char *buf)
{
	const u64 *value = etherport_field(dev, attr);

	return sysfs_emit(buf, "%llu\n", *value);
}

static int etherport_set_u64(struct etherport *port, void *field, const char *buf)
{
	u64 value;
	int err;

	err = kstrtou64(buf, 0, &value);
	if (err)
		return err;

	local_bh_disable();
	*(u64 *)field = value;
	etherport_pause_watch_all(port);
	local_bh_enable();
	return 0;
}

ETHERPORT_ATTR(buffer_bytes, buffer_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(xoff_bytes, xoff_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(xon_bytes, xon_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(bus_payload_bytes, bus.payload_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(bus_overhead_bytes, bus.overhead_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(bus_frame_bytes, bus.frame_bytes, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(cpu_rx_frame_ns, cpu_rx.frame_ns, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(cpu_rx_byte_ps, cpu_rx.byte_ps, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(cpu_tx_frame_ns, cpu_tx.frame_ns, etherport_show_u64, etherport_set_u64);
ETHERPORT_ATTR(cpu_tx_byte_ps, cpu_tx.byte_ps, etherport_show_u64, etherport_set_u64);

/* A card is not moved to another slot while it runs: frames would be half way. */
static int etherport_set_bus(struct etherport *port, void *field, const char *buf)
{
	if (netif_running(port->dev))
		return -EBUSY;
	return etherport_set_u64(port, field, buf);
}
ETHERPORT_ATTR(bus_bps, bus.bps, etherport_show_u64, etherport_set_bus);

/* A cable is as long for one end as for the other. */
static int etherport_set_cable_delay(struct etherport *port, void *field, const char *buf)
{
	u64 delay_ns;
	int err;

	err = kstrtou64(buf, 0, &delay_ns);
	if (err)
		return err;
	if (delay_ns > ETHERPORT_MAX_DELAY_NS)
		return -ERANGE;

	local_bh_disable();
	port->cable_delay_ns = delay_ns;
	if (port->peer)
		port->peer->cable_delay_ns = delay_ns;
	local_bh_enable();
	/* Stations of a medium hear of each other later, or sooner. */
	etherport_resolve(port);
	return 0;
}
ETHERPORT_ATTR(cable_delay_ns, cable_delay_ns, etherport_show_u64, etherport_set_cable_delay);

static ssize_t etherport_show_quanta(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", etherport_of(dev)->pause_quanta);
}

static int etherport_set_quanta(struct etherport *port, void *field, const char *buf)
{
	u16 quanta;
	int err;

	err = kstrtou16(buf, 0, &quanta);
	if (err)
		return err;
	if (!quanta)
		return -EINVAL;
	port->pause_quanta = quanta;
	return 0;
}
ETHERPORT_ATTR(pause_quanta, pause_quanta, etherport_show_quanta, etherport_set_quanta);

static const char * const etherport_roles[] = {
	[ETHERPORT_HOST] = "host",
	[ETHERPORT_FORWARD] = "forward",
	[ETHERPORT_REPEAT] = "repeat",
};

static ssize_t etherport_show_role(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_roles[etherport_of(dev)->role]);
}

static int etherport_set_role(struct etherport *port, void *field, const char *buf)
{
	int role = sysfs_match_string(etherport_roles, buf);

	if (role < 0)
		return role;
	if (netif_running(port->dev))
		return -EBUSY;
	port->role = role;
	return 0;
}
ETHERPORT_ATTR(role, role, etherport_show_role, etherport_set_role);

static const char * const etherport_moderations[] = {
	[ETHERPORT_FIRST] = "first",
	[ETHERPORT_LAST] = "last",
	[ETHERPORT_INTERVAL] = "interval",
};

static ssize_t etherport_show_moderation(struct device *dev, struct device_attribute *attr,
					 char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_moderations[etherport_of(dev)->vector.from]);
}

static int etherport_set_moderation(struct etherport *port, void *field, const char *buf)
{
	int from = sysfs_match_string(etherport_moderations, buf);

	if (from < 0)
		return from;
	port->vector.from = from;
	return 0;
}
ETHERPORT_ATTR(rx_moderation, vector, etherport_show_moderation, etherport_set_moderation);

static const char * const etherport_algorithms[] = {
	[ETHERPORT_FIXED] = "none",
	[ETHERPORT_IXGBE] = "ixgbe",
	[ETHERPORT_IGB] = "igb",
	[ETHERPORT_E1000] = "e1000",
	[ETHERPORT_DIM] = "dim",
};

static ssize_t etherport_show_adaptive(struct device *dev, struct device_attribute *attr,
				       char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_algorithms[etherport_of(dev)->vector.algorithm]);
}

static int etherport_set_adaptive(struct etherport *port, void *field, const char *buf)
{
	int algorithm = sysfs_match_string(etherport_algorithms, buf);

	if (algorithm < 0)
		return algorithm;
	if (port->vector.adaptive)
		return -EBUSY;
	port->vector.algorithm = algorithm;
	return 0;
}
ETHERPORT_ATTR(rx_adaptive, vector, etherport_show_adaptive, etherport_set_adaptive);

/* What ports with the same number have in common; 0: nothing. */
static ssize_t etherport_show_shared(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct etherport_shared **shared = etherport_field(dev, attr);

	return sysfs_emit(buf, "%u\n", etherport_shared_number(*shared));
}

static int etherport_set_shared(struct etherport *port, void *field, const char *buf)
{
	struct etherport_shared *shared;
	u32 number;
	int err;

	err = kstrtou32(buf, 0, &number);
	if (err)
		return err;
	if (netif_running(port->dev) || port->buffer_used_bytes)
		return -EBUSY;

	shared = etherport_shared_get(number);
	if (IS_ERR(shared))
		return PTR_ERR(shared);
	*(struct etherport_shared **)field = shared;
	return 0;
}
ETHERPORT_ATTR(cpu, cpu, etherport_show_shared, etherport_set_shared);
ETHERPORT_ATTR(pool, pool, etherport_show_shared, etherport_set_shared);

static ssize_t etherport_show_pool_bytes(struct device *dev, struct device_attribute *attr,
					 char *buf)
{
	const struct etherport_shared *pool = READ_ONCE(etherport_of(dev)->pool);

	return sysfs_emit(buf, "%llu\n", pool ? pool->pool_bytes : 0);
}

static int etherport_set_pool_bytes(struct etherport *port, void *field, const char *buf)
{
	if (!port->pool)
		return -EINVAL;
	return etherport_set_u64(port, &port->pool->pool_bytes, buf);
}
ETHERPORT_ATTR(pool_bytes, pool, etherport_show_pool_bytes, etherport_set_pool_bytes);

static ssize_t etherport_show_follow(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_of(dev)->follow);
}

/* The port of this node without whose link this one has none; empty: it stands for itself. */
static int etherport_set_follow(struct etherport *port, void *field, const char *buf)
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
ETHERPORT_ATTR(follow, follow, etherport_show_follow, etherport_set_follow);

#ifndef HAVE_DCBNL_APPTRUST
/* What tells the priority of a frame, where the kernel has no "dcb apptrust" yet. */
static const char * const etherport_trusts[] = { "pcp", "dscp" };

static ssize_t etherport_show_trust(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_trusts[etherport_of(dev)->trust_dscp]);
}

static int etherport_set_trust(struct etherport *port, void *field, const char *buf)
{
	int trust = sysfs_match_string(etherport_trusts, buf);

	if (trust < 0)
		return trust;
	port->trust_dscp = trust;
	return 0;
}
ETHERPORT_ATTR(trust, trust_dscp, etherport_show_trust, etherport_set_trust);
#endif

static struct attribute *etherport_sysfs_attrs[] = {
	&dev_attr_buffer_bytes.attr.attr,
	&dev_attr_bus_bps.attr.attr,
	&dev_attr_bus_frame_bytes.attr.attr,
	&dev_attr_bus_overhead_bytes.attr.attr,
	&dev_attr_bus_payload_bytes.attr.attr,
	&dev_attr_cable_delay_ns.attr.attr,
	&dev_attr_cpu.attr.attr,
	&dev_attr_cpu_rx_byte_ps.attr.attr,
	&dev_attr_cpu_rx_frame_ns.attr.attr,
	&dev_attr_cpu_tx_byte_ps.attr.attr,
	&dev_attr_cpu_tx_frame_ns.attr.attr,
	&dev_attr_follow.attr.attr,
	&dev_attr_pause_quanta.attr.attr,
	&dev_attr_pool.attr.attr,
	&dev_attr_pool_bytes.attr.attr,
	&dev_attr_role.attr.attr,
	&dev_attr_rx_adaptive.attr.attr,
	&dev_attr_rx_moderation.attr.attr,
#ifndef HAVE_DCBNL_APPTRUST
	&dev_attr_trust.attr.attr,
#endif
	&dev_attr_xoff_bytes.attr.attr,
	&dev_attr_xon_bytes.attr.attr,
	NULL
};

const struct attribute_group etherport_sysfs_group = {
	.name = "etherport",
	.attrs = etherport_sysfs_attrs,
};
