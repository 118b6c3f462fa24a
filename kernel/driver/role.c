// SPDX-License-Identifier: GPL-2.0-only
/*
 * The role of a port, and the one that needs nobody above it: what comes in by
 * one side of a module leaves by the other. The two are those ports of a
 * namespace that have the role "through", as the ports of a hub are found.
 *
 * It is an rx_handler, as a bridge has one: packet sockets and ingress filters
 * of the port come before it.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "etherport.h"

const char * const etherport_roles[] = {
	[ETHERPORT_HOST] = "host",
	[ETHERPORT_FORWARD] = "forward",
	[ETHERPORT_THROUGH] = "through",
	[ETHERPORT_REPEAT] = "repeat",
	NULL
};

static struct net_device *etherport_other_side(const struct net_device *dev)
{
	struct net_device *other;

	for_each_netdev_rcu(dev_net(dev), other) {
		const struct etherport *port = netdev_priv(other);

		if (other != dev && etherport_is(other) && port->role == ETHERPORT_THROUGH)
			return other;
	}
	return NULL;
}

static rx_handler_result_t etherport_through(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct net_device *out = etherport_other_side(skb->dev);

	/* For nobody but who has bound to this port; if that is nobody, rx_nohandler. */
	if (!out)
		return RX_HANDLER_EXACT;

	skb_push(skb, ETH_HLEN);
	skb->dev = out;
	dev_queue_xmit(skb);
	return RX_HANDLER_CONSUMED;
}

/* -EBUSY: a bridge has the port, or Open vSwitch. */
int etherport_role_set(struct etherport *port, enum etherport_role role)
{
	bool was = port->role == ETHERPORT_THROUGH, is = role == ETHERPORT_THROUGH;
	int err = 0;

	ASSERT_RTNL();
	if (is && !was)
		err = netdev_rx_handler_register(port->dev, etherport_through, NULL);
	else if (was && !is)
		netdev_rx_handler_unregister(port->dev);
	if (!err)
		port->role = role;
	return err;
}
