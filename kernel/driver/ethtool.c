// SPDX-License-Identifier: GPL-2.0-only
/* Settings and counters the way real NICs have them: ethtool -s -A -C -G -S. */
#include <net/sch_generic.h>

#include "etherport.h"

static void etherport_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "etherport", sizeof(info->driver));
}

static int etherport_get_link_ksettings(struct net_device *dev,
					struct ethtool_link_ksettings *settings)
{
	struct etherport *port = netdev_priv(dev);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	ethtool_link_ksettings_add_link_mode(settings, supported, 10baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 100baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 1000baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 2500baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 5000baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 10000baseT_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 25000baseCR_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, Pause);

	settings->base.speed = port->speed_mbps;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static int etherport_set_link_ksettings(struct net_device *dev,
					const struct ethtool_link_ksettings *settings)
{
	struct etherport *port = netdev_priv(dev);

	if (settings->base.autoneg != AUTONEG_DISABLE ||
	    settings->base.duplex != DUPLEX_FULL)
		return -EOPNOTSUPP;
	if (!etherport_speed_known(settings->base.speed))
		return -EINVAL;

	local_bh_disable();
	etherport_set_speed(port, settings->base.speed);
	local_bh_enable();
	etherport_resolve(port);
	return 0;
}

static void etherport_get_pauseparam(struct net_device *dev,
				     struct ethtool_pauseparam *param)
{
	struct etherport *port = netdev_priv(dev);

	param->autoneg = AUTONEG_DISABLE;
	param->rx_pause = port->pause_rx;
	param->tx_pause = port->pause_tx;
}

static int etherport_set_pauseparam(struct net_device *dev,
				    struct ethtool_pauseparam *param)
{
	struct etherport *port = netdev_priv(dev);

	if (param->autoneg)
		return -EOPNOTSUPP;

	local_bh_disable();
	port->pause_rx = param->rx_pause;
	port->pause_tx = param->tx_pause;
	etherport_pause_watch(port);
	local_bh_enable();
	return 0;
}

static void etherport_get_pause_stats(struct net_device *dev,
				      struct ethtool_pause_stats *stats)
{
	struct etherport *port = netdev_priv(dev);

	stats->tx_pause_frames = port->count.tx_pause_frames;
	stats->rx_pause_frames = port->count.rx_pause_frames;
}

static int etherport_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
				  struct kernel_ethtool_coalesce *kernel_coalesce,
				  struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	coalesce->rx_coalesce_usecs = port->rx_usecs;
	coalesce->rx_max_coalesced_frames = port->rx_max_frames;
	return 0;
}

static int etherport_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
				  struct kernel_ethtool_coalesce *kernel_coalesce,
				  struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	port->rx_usecs = coalesce->rx_coalesce_usecs;
	port->rx_max_frames = coalesce->rx_max_coalesced_frames;
	return 0;
}

static void etherport_get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				    struct kernel_ethtool_ringparam *kernel_ring,
				    struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	ring->rx_max_pending = ETHERPORT_MAX_RING;
	ring->tx_max_pending = ETHERPORT_MAX_RING;
	ring->rx_pending = port->rx_ring_size;
	ring->tx_pending = port->tx_ring_size;
}

static int etherport_set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				   struct kernel_ethtool_ringparam *kernel_ring,
				   struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	if (!ring->rx_pending || !ring->tx_pending)
		return -EINVAL;

	port->rx_ring_size = ring->rx_pending;
	port->tx_ring_size = ring->tx_pending;
	return 0;
}

#define ETHERPORT_COUNTER(name) { #name, offsetof(struct etherport_counters, name) }

static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} etherport_counter_list[] = {
	ETHERPORT_COUNTER(tx_frames),
	ETHERPORT_COUNTER(tx_bytes),
	ETHERPORT_COUNTER(tx_dropped_down),
	ETHERPORT_COUNTER(tx_dropped_error),
	ETHERPORT_COUNTER(tx_pause_frames),
	ETHERPORT_COUNTER(rx_wire_frames),
	ETHERPORT_COUNTER(rx_frames),
	ETHERPORT_COUNTER(rx_bytes),
	ETHERPORT_COUNTER(rx_dropped_buffer),
	ETHERPORT_COUNTER(rx_dropped_oversize),
	ETHERPORT_COUNTER(rx_dropped_down),
	ETHERPORT_COUNTER(rx_dropped_error),
	ETHERPORT_COUNTER(rx_pause_frames),
	ETHERPORT_COUNTER(rx_interrupts),
};

/* What is there now, behind the counters; the order of etherport_get_gauges(). */
static const char etherport_gauges[][ETH_GSTRING_LEN] = {
	"tx_paused_ns",
	"tx_paused",
	"tx_ring_frames",
	"tx_flight_frames",
	"rx_ring_frames",
	"buffer_bytes",
	"buffer_high_water_bytes",
	"queue_bytes",
	"queue_high_water_bytes",
	"queue_dropped_frames",
};

static int etherport_get_sset_count(struct net_device *dev, int stringset)
{
	if (stringset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(etherport_counter_list) + ARRAY_SIZE(etherport_gauges);
}

static void etherport_get_strings(struct net_device *dev, u32 stringset, u8 *data)
{
	int i;

	if (stringset != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(etherport_counter_list); i++, data += ETH_GSTRING_LEN)
		memcpy(data, etherport_counter_list[i].name, ETH_GSTRING_LEN);
	memcpy(data, etherport_gauges, sizeof(etherport_gauges));
}

static u64 etherport_queue_dropped(struct Qdisc *qdisc)
{
	struct gnet_stats_queue queue = {};

	gnet_stats_add_queue(&queue, qdisc->cpu_qstats, &qdisc->qstats);
	return queue.drops;
}

static void etherport_get_gauges(struct etherport *port, u64 *data)
{
	struct Qdisc *qdisc = rcu_dereference_bh(netdev_get_tx_queue(port->dev, 0)->qdisc);
	__u32 queue_frames, queue_bytes;

	qdisc_qstats_qlen_backlog(qdisc, &queue_frames, &queue_bytes);
	port->queue_high_water_bytes = max_t(u64, port->queue_high_water_bytes, queue_bytes);

	*data++ = etherport_paused_ns(port);
	*data++ = etherport_paused(port, etherport_now_ps());
	*data++ = etherport_tx_used(port);
	*data++ = skb_queue_len(&port->flight);
	*data++ = skb_queue_len(&port->rx_ring) + skb_queue_len(&port->rx_fifo);
	*data++ = port->buffer_used_bytes;
	*data++ = port->buffer_high_water_bytes;
	*data++ = queue_bytes;
	*data++ = port->queue_high_water_bytes;
	*data++ = etherport_queue_dropped(qdisc);
}

static void etherport_get_ethtool_stats(struct net_device *dev,
					struct ethtool_stats *stats, u64 *data)
{
	struct etherport *port = netdev_priv(dev);
	int i;

	local_bh_disable();
	for (i = 0; i < ARRAY_SIZE(etherport_counter_list); i++)
		*data++ = *(u64 *)((void *)&port->count + etherport_counter_list[i].offset);
	etherport_get_gauges(port, data);
	local_bh_enable();
}

const struct ethtool_ops etherport_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS |
				     ETHTOOL_COALESCE_RX_MAX_FRAMES,
	.get_drvinfo		= etherport_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= etherport_get_link_ksettings,
	.set_link_ksettings	= etherport_set_link_ksettings,
	.get_pauseparam		= etherport_get_pauseparam,
	.set_pauseparam		= etherport_set_pauseparam,
	.get_pause_stats	= etherport_get_pause_stats,
	.get_coalesce		= etherport_get_coalesce,
	.set_coalesce		= etherport_set_coalesce,
	.get_ringparam		= etherport_get_ringparam,
	.set_ringparam		= etherport_set_ringparam,
	.get_sset_count		= etherport_get_sset_count,
	.get_strings		= etherport_get_strings,
	.get_ethtool_stats	= etherport_get_ethtool_stats,
};
