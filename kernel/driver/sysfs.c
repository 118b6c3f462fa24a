// SPDX-License-Identifier: GPL-2.0-only
/* Settings no NIC has a tool for: /sys/class/net/<port>/etherport/ */
#include <linux/device.h>
#include <linux/rtnetlink.h>

#include "etherport.h"

static struct etherport *etherport_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static ssize_t etherport_store_u64(struct etherport *port, const char *buf,
				     size_t count, u64 *field)
{
	u64 value;
	int err;

	err = kstrtou64(buf, 0, &value);
	if (err)
		return err;

	local_bh_disable();
	*field = value;
	etherport_pause_watch_all(port);
	local_bh_enable();
	return count;
}

#define ETHERPORT_ATTR(name, field)						\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr,	\
			   char *buf)						\
{										\
	return sysfs_emit(buf, "%llu\n", etherport_of(dev)->field);		\
}										\
										\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr,	\
			    const char *buf, size_t count)			\
{										\
	struct etherport *port = etherport_of(dev);				\
										\
	return etherport_store_u64(port, buf, count, &port->field);		\
}										\
static DEVICE_ATTR_RW(name)

ETHERPORT_ATTR(buffer_bytes, buffer_bytes);
ETHERPORT_ATTR(xoff_bytes, xoff_bytes);
ETHERPORT_ATTR(xon_bytes, xon_bytes);
ETHERPORT_ATTR(bus_payload_bytes, bus.payload_bytes);
ETHERPORT_ATTR(bus_overhead_bytes, bus.overhead_bytes);
ETHERPORT_ATTR(bus_frame_bytes, bus.frame_bytes);
ETHERPORT_ATTR(cpu_rx_frame_ns, cpu_rx.frame_ns);
ETHERPORT_ATTR(cpu_rx_byte_ps, cpu_rx.byte_ps);
ETHERPORT_ATTR(cpu_tx_frame_ns, cpu_tx.frame_ns);
ETHERPORT_ATTR(cpu_tx_byte_ps, cpu_tx.byte_ps);

static ssize_t pause_quanta_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", etherport_of(dev)->pause_quanta);
}

static ssize_t pause_quanta_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	u16 quanta;
	int err;

	err = kstrtou16(buf, 0, &quanta);
	if (err)
		return err;
	if (!quanta)
		return -EINVAL;
	etherport_of(dev)->pause_quanta = quanta;
	return count;
}
static DEVICE_ATTR_RW(pause_quanta);

/* A cable is as long for one end as for the other. */
static ssize_t cable_delay_ns_store(struct device *dev, struct device_attribute *attr,
				    const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);
	u64 delay_ns;
	int err;

	err = kstrtou64(buf, 0, &delay_ns);
	if (err)
		return err;

	rtnl_lock();
	port->cable_delay_ns = delay_ns;
	if (port->peer)
		port->peer->cable_delay_ns = delay_ns;
	rtnl_unlock();
	return count;
}

static ssize_t cable_delay_ns_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", etherport_of(dev)->cable_delay_ns);
}
static DEVICE_ATTR_RW(cable_delay_ns);

/* Priorities whose frames are not to be lost, a bit for each; 0: PAUSE for all of them. */
static ssize_t pfc_store(struct device *dev, struct device_attribute *attr,
			 const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);
	u8 priorities;
	int err;

	err = kstrtou8(buf, 0, &priorities);
	if (err)
		return err;
	if (port->class_count < ETHERPORT_CLASSES)
		return -EOPNOTSUPP;
	if (netif_running(port->dev) || port->buffer_used_bytes)
		return -EBUSY;
	port->pfc = priorities;
	return count;
}

static ssize_t pfc_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#x\n", etherport_of(dev)->pfc);
}
static DEVICE_ATTR_RW(pfc);

static const char * const etherport_trusts[] = { "pcp", "dscp" };

static ssize_t trust_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	int trust = sysfs_match_string(etherport_trusts, buf);

	if (trust < 0)
		return trust;
	etherport_of(dev)->trust_dscp = trust;
	return count;
}

static ssize_t trust_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_trusts[etherport_of(dev)->trust_dscp]);
}
static DEVICE_ATTR_RW(trust);

static const char * const etherport_roles[] = {
	[ETHERPORT_HOST] = "host",
	[ETHERPORT_FORWARD] = "forward",
	[ETHERPORT_REPEAT] = "repeat",
};

static ssize_t role_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_roles[etherport_of(dev)->role]);
}

static ssize_t role_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);
	int role = sysfs_match_string(etherport_roles, buf);

	if (role < 0)
		return role;
	if (netif_running(port->dev))
		return -EBUSY;
	port->role = role;
	return count;
}
static DEVICE_ATTR_RW(role);

/* A card is not moved to another slot while it runs: frames would be half way. */
static ssize_t bus_bps_store(struct device *dev, struct device_attribute *attr,
			     const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);

	if (netif_running(port->dev))
		return -EBUSY;
	return etherport_store_u64(port, buf, count, &port->bus.bps);
}

static ssize_t bus_bps_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", etherport_of(dev)->bus.bps);
}
static DEVICE_ATTR_RW(bus_bps);

static ssize_t etherport_store_shared(struct etherport *port, const char *buf, size_t count,
				      struct etherport_shared **field)
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
	*field = shared;
	return count;
}

/* Ports with the same number are served by one CPU; 0: it takes no time. */
static ssize_t cpu_store(struct device *dev, struct device_attribute *attr,
			 const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);

	return etherport_store_shared(port, buf, count, &port->cpu);
}

static ssize_t cpu_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", etherport_shared_number(etherport_of(dev)->cpu));
}
static DEVICE_ATTR_RW(cpu);

/* Ports with the same number share one packet memory of pool_bytes; 0: each has its own. */
static ssize_t pool_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);

	return etherport_store_shared(port, buf, count, &port->pool);
}

static ssize_t pool_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", etherport_shared_number(etherport_of(dev)->pool));
}
static DEVICE_ATTR_RW(pool);

static ssize_t pool_bytes_store(struct device *dev, struct device_attribute *attr,
				const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);

	if (!port->pool)
		return -EINVAL;
	return etherport_store_u64(port, buf, count, &port->pool->pool_bytes);
}

static ssize_t pool_bytes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct etherport *port = etherport_of(dev);

	return sysfs_emit(buf, "%llu\n", port->pool ? port->pool->pool_bytes : 0);
}
static DEVICE_ATTR_RW(pool_bytes);

/* The port of this node without whose link this one has none; empty: it stands for itself. */
static ssize_t follow_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_of(dev)->follow);
}

static ssize_t follow_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);
	char name[IFNAMSIZ];

	if (strscpy(name, buf, sizeof(name)) < 0)
		return -EINVAL;
	name[strcspn(name, "\n")] = '\0';
	if (!strcmp(name, port->dev->name))
		return -EINVAL;

	rtnl_lock();
	strscpy(port->follow, name, sizeof(port->follow));
	etherport_resolve(port);
	rtnl_unlock();
	return count;
}
static DEVICE_ATTR_RW(follow);

static struct attribute *etherport_sysfs_attrs[] = {
	&dev_attr_buffer_bytes.attr,
	&dev_attr_bus_bps.attr,
	&dev_attr_bus_frame_bytes.attr,
	&dev_attr_bus_overhead_bytes.attr,
	&dev_attr_bus_payload_bytes.attr,
	&dev_attr_cable_delay_ns.attr,
	&dev_attr_cpu.attr,
	&dev_attr_cpu_rx_byte_ps.attr,
	&dev_attr_cpu_rx_frame_ns.attr,
	&dev_attr_cpu_tx_byte_ps.attr,
	&dev_attr_cpu_tx_frame_ns.attr,
	&dev_attr_follow.attr,
	&dev_attr_pause_quanta.attr,
	&dev_attr_pfc.attr,
	&dev_attr_pool.attr,
	&dev_attr_pool_bytes.attr,
	&dev_attr_role.attr,
	&dev_attr_trust.attr,
	&dev_attr_xoff_bytes.attr,
	&dev_attr_xon_bytes.attr,
	NULL
};

const struct attribute_group etherport_sysfs_group = {
	.name = "etherport",
	.attrs = etherport_sysfs_attrs,
};
