// SPDX-License-Identifier: GPL-2.0-only
/* Settings no NIC has a tool for: /sys/class/net/<port>/etherport/ */
#include <linux/device.h>
#include <linux/rtnetlink.h>

#include "etherport.h"

static struct etherport *etherport_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static ssize_t etherport_store_bytes(struct etherport *port, const char *buf,
				     size_t count, u64 *field)
{
	u64 value;
	int err;

	err = kstrtou64(buf, 0, &value);
	if (err)
		return err;

	local_bh_disable();
	*field = value;
	etherport_pause_watch(port);
	local_bh_enable();
	return count;
}

#define ETHERPORT_ATTR_BYTES(name)						\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr,	\
			   char *buf)						\
{										\
	return sysfs_emit(buf, "%llu\n", etherport_of(dev)->name);		\
}										\
										\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr,	\
			    const char *buf, size_t count)			\
{										\
	struct etherport *port = etherport_of(dev);				\
										\
	return etherport_store_bytes(port, buf, count, &port->name);		\
}										\
static DEVICE_ATTR_RW(name)

ETHERPORT_ATTR_BYTES(buffer_bytes);
ETHERPORT_ATTR_BYTES(xoff_bytes);
ETHERPORT_ATTR_BYTES(xon_bytes);

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

/* host: frames end in this stack. forward: they are passed on (switch, module). */
static ssize_t role_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", etherport_of(dev)->forward ? "forward" : "host");
}

static ssize_t role_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct etherport *port = etherport_of(dev);
	bool forward = sysfs_streq(buf, "forward");

	if (!forward && !sysfs_streq(buf, "host"))
		return -EINVAL;
	if (netif_running(port->dev))
		return -EBUSY;
	port->forward = forward;
	return count;
}
static DEVICE_ATTR_RW(role);

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
	&dev_attr_cable_delay_ns.attr,
	&dev_attr_follow.attr,
	&dev_attr_pause_quanta.attr,
	&dev_attr_role.attr,
	&dev_attr_xoff_bytes.attr,
	&dev_attr_xon_bytes.attr,
	NULL
};

const struct attribute_group etherport_sysfs_group = {
	.name = "etherport",
	.attrs = etherport_sysfs_attrs,
};
