// SPDX-License-Identifier: GPL-2.0-only
/* The net device: making, plugging, opening and deleting ports. */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "control.h"
#include "etherport.h"
#include "prompt.h"
#include "recorder.h"

/* Defaults of a bare port; whoever builds a lab states each of them. */
#define ETHERPORT_DEFAULT_MBPS		SPEED_1000
#define ETHERPORT_DEFAULT_RING		256
#define ETHERPORT_DEFAULT_BUFFER	(512 * 1024)
#define ETHERPORT_DEFAULT_XOFF		(384 * 1024)
#define ETHERPORT_DEFAULT_XON		(256 * 1024)

static int etherport_open(struct net_device *dev)
{
	struct etherport *port = netdev_priv(dev);

	etherport_rx_start(port);
	etherport_tx_start(port);
	etherport_resolve(port);
	return 0;
}

static int etherport_stop(struct net_device *dev)
{
	struct etherport *port = netdev_priv(dev);

	etherport_resolve(port);
	etherport_tx_stop(port);
	etherport_rx_stop(port);
	return 0;
}

/* As ip link shows it: p2@p1 */
static int etherport_get_iflink(const struct net_device *dev)
{
	const struct etherport *port = netdev_priv(dev);

	return port->peer ? port->peer->dev->ifindex : 0;
}

static void etherport_uninit(struct net_device *dev)
{
	struct etherport *port = netdev_priv(dev);

	etherport_hub_remove(port);
	etherport_role_set(port, ETHERPORT_HOST);
	etherport_unplug(port);
	etherport_pool_leave(port);
}

const struct net_device_ops etherport_netdev_ops = {
	.ndo_uninit		= etherport_uninit,
	.ndo_open		= etherport_open,
	.ndo_stop		= etherport_stop,
	.ndo_start_xmit		= etherport_xmit,
	.ndo_select_queue	= etherport_select_queue,
	.ndo_get_stats64	= etherport_get_stats64,
	.ndo_get_iflink		= etherport_get_iflink,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static void etherport_setup(struct net_device *dev)
{
	struct etherport *port = netdev_priv(dev);

	ether_setup(dev);
	/* A frame is kept until it has left, with notes of ours in its cb. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->netdev_ops = &etherport_netdev_ops;
	dev->ethtool_ops = &etherport_ethtool_ops;
	dev->dcbnl_ops = &etherport_dcbnl_ops;
	dev->sysfs_groups[0] = &etherport_sysfs_group;
	dev->needs_free_netdev = true;
	dev->max_mtu = ETHERPORT_MAX_MTU;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM |
			   NETIF_F_TSO | NETIF_F_TSO_ECN | NETIF_F_TSO6 |
			   NETIF_F_GSO_UDP_L4;
	dev->features = dev->hw_features | NETIF_F_HIGHDMA;
	dev->vlan_features = dev->features;

	port->dev = dev;
	port->class_count = 1;
	INIT_LIST_HEAD(&port->stations);
	port->tx_ring_size = ETHERPORT_DEFAULT_RING;
	port->rx_ring_size = ETHERPORT_DEFAULT_RING;
	port->buffer_bytes = ETHERPORT_DEFAULT_BUFFER;
	port->xoff_bytes = ETHERPORT_DEFAULT_XOFF;
	port->xon_bytes = ETHERPORT_DEFAULT_XON;
	port->forced_mbps = ETHERPORT_DEFAULT_MBPS;
	port->pause_rx_asked = true;
	etherport_link_init(port);
	etherport_tx_init(port);
	etherport_rx_init(port);
	etherport_cable_init(port, etherport_receive);
	etherport_pause_init(port, etherport_tx_kick);
}

/* A queue is a class: one for all priorities, or one for each (numtxqueues 8). */
static int etherport_validate(struct nlattr *tb[], struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	u32 queues = tb[IFLA_NUM_TX_QUEUES] ? nla_get_u32(tb[IFLA_NUM_TX_QUEUES]) : 1;

	if (tb[IFLA_ADDRESS]) {
		if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN)
			return -EINVAL;
		if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS])))
			return -EADDRNOTAVAIL;
	}
	if (queues != 1 && queues != ETHERPORT_CLASSES) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_NUM_TX_QUEUES],
				    "a port has 1 TX queue, or 8, one for each priority");
		return -EINVAL;
	}
	return 0;
}

/* The port that IFLA_LINK names, or NULL if the new port is to stay unplugged. */
static struct etherport *etherport_find_peer(struct net *net, struct nlattr *link,
					     struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	struct etherport *peer;

	if (!link)
		return NULL;

	dev = __dev_get_by_index(net, nla_get_u32(link));
	if (!dev || !etherport_is(dev)) {
		NL_SET_ERR_MSG(extack, "the other end of the cable is not an etherport");
		return ERR_PTR(-EINVAL);
	}
	peer = netdev_priv(dev);
	if (peer->peer) {
		NL_SET_ERR_MSG(extack, "the other end has a cable already");
		return ERR_PTR(-EBUSY);
	}
	return peer;
}

static int etherport_create(struct net *link_net, struct net_device *dev,
			    struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct etherport *peer = etherport_find_peer(link_net, tb[IFLA_LINK], extack);
	struct etherport *port = netdev_priv(dev);
	int err;

	if (IS_ERR(peer))
		return PTR_ERR(peer);
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);

	port->class_count = dev->num_tx_queues;

	netif_carrier_off(dev);
	err = register_netdevice(dev);
	if (err)
		return err;

	etherport_hub_add(port);
	if (peer)
		etherport_plug(port, peer);
	return 0;
}

#ifdef HAVE_RTNL_NEWLINK_PARAMS
static int etherport_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			     struct netlink_ext_ack *extack)
{
	return etherport_create(rtnl_newlink_link_net(params), dev, params->tb, extack);
}
#else
static int etherport_newlink(struct net *net, struct net_device *dev, struct nlattr *tb[],
			     struct nlattr *data[], struct netlink_ext_ack *extack)
{
	return etherport_create(net, dev, tb, extack);
}
#endif

static struct net *etherport_get_link_net(const struct net_device *dev)
{
	const struct etherport *port = netdev_priv(dev);

	return port->peer ? dev_net(port->peer->dev) : dev_net(dev);
}

static struct rtnl_link_ops etherport_link_ops = {
	.kind		= ETHERPORT_KIND,
	.priv_size	= sizeof(struct etherport),
	.setup		= etherport_setup,
	.validate	= etherport_validate,
	.newlink	= etherport_newlink,
	.get_link_net	= etherport_get_link_net,
};

static const struct etherport_prompt_calls etherport_prompt_calls = {
	.flush	= etherport_recorder_sync,
	.show	= etherport_show,
};

static int __init etherport_module_init(void)
{
	int err = etherport_buffer_setup() ? : etherport_fifo_setup() ? : etherport_recorder_setup() ? :
		  etherport_record_setup() ? : etherport_prompt_setup(&etherport_prompt_calls);

	etherport_control_setup();
	etherport_probe_setup();
	return err ? : rtnl_link_register(&etherport_link_ops);
}
device_initcall(etherport_module_init);
