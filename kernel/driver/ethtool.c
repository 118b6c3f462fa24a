// SPDX-License-Identifier: GPL-2.0-only
/* Settings and counters the way real NICs have them: ethtool -s -A -C -G -S. */
#include <linux/linkmode.h>
#include <net/sch_generic.h>

#include "etherport.h"

static void etherport_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "etherport", sizeof(info->driver));
}

static void etherport_add_pause_modes(const struct etherport *port, unsigned long *modes)
{
	linkmode_mod_bit(ETHTOOL_LINK_MODE_Pause_BIT, modes, port->pause_rx_asked);
	linkmode_mod_bit(ETHTOOL_LINK_MODE_Asym_Pause_BIT, modes,
			 port->pause_rx_asked != port->pause_tx_asked);
	linkmode_set_bit(ETHTOOL_LINK_MODE_Autoneg_BIT, modes);
}

static void etherport_get_speed(const struct etherport *port,
				struct ethtool_link_ksettings *settings)
{
	if (!port->autoneg) {
		settings->base.speed = port->forced_mbps;
		settings->base.duplex = port->forced_half ? DUPLEX_HALF : DUPLEX_FULL;
	} else if (netif_carrier_ok(port->dev)) {
		settings->base.speed = port->speed_mbps;
		settings->base.duplex = port->half ? DUPLEX_HALF : DUPLEX_FULL;
	} else {
		settings->base.speed = SPEED_UNKNOWN;
		settings->base.duplex = DUPLEX_UNKNOWN;
	}
}

static int etherport_get_link_ksettings(struct net_device *dev,
					struct ethtool_link_ksettings *settings)
{
	struct etherport *port = netdev_priv(dev);

	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	ethtool_link_ksettings_zero_link_mode(settings, lp_advertising);
	etherport_supported(settings->link_modes.supported);
	ethtool_link_ksettings_add_link_mode(settings, supported, Pause);
	ethtool_link_ksettings_add_link_mode(settings, supported, Asym_Pause);
	ethtool_link_ksettings_add_link_mode(settings, supported, Autoneg);
	if (port->autoneg) {
		linkmode_copy(settings->link_modes.advertising, port->advertising);
		etherport_add_pause_modes(port, settings->link_modes.advertising);
	}
	if (port->autoneg && port->peer && port->peer->autoneg && netif_carrier_ok(dev)) {
		linkmode_copy(settings->link_modes.lp_advertising, port->peer->advertising);
		etherport_add_pause_modes(port->peer, settings->link_modes.lp_advertising);
	}
	etherport_get_speed(port, settings);
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = port->autoneg ? AUTONEG_ENABLE : AUTONEG_DISABLE;
	return 0;
}

static int etherport_set_link_ksettings(struct net_device *dev,
					const struct ethtool_link_ksettings *settings)
{
	struct etherport *port = netdev_priv(dev);
	bool half = settings->base.duplex == DUPLEX_HALF;
	__ETHTOOL_DECLARE_LINK_MODE_MASK(modes);

	if (settings->base.autoneg == AUTONEG_ENABLE) {
		etherport_supported(modes);
		linkmode_and(modes, modes, settings->link_modes.advertising);
		if (linkmode_empty(modes))
			return -EINVAL;
		linkmode_copy(port->advertising, modes);
		port->autoneg = true;
	} else {
		if (!etherport_mode_known(settings->base.speed, half))
			return -EINVAL;
		port->forced_mbps = settings->base.speed;
		port->forced_half = half;
		port->autoneg = false;
	}
	etherport_resolve(port);
	return 0;
}

static void etherport_get_pauseparam(struct net_device *dev,
				     struct ethtool_pauseparam *param)
{
	struct etherport *port = netdev_priv(dev);

	param->autoneg = port->pause_autoneg ? AUTONEG_ENABLE : AUTONEG_DISABLE;
	param->rx_pause = port->pause_rx_asked;
	param->tx_pause = port->pause_tx_asked;
}

static int etherport_set_pauseparam(struct net_device *dev,
				    struct ethtool_pauseparam *param)
{
	struct etherport *port = netdev_priv(dev);

	port->pause_autoneg = param->autoneg;
	port->pause_rx_asked = param->rx_pause;
	port->pause_tx_asked = param->tx_pause;
	etherport_resolve(port);
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
	ETHERPORT_COUNTER(tx_dropped_collisions),
	ETHERPORT_COUNTER(tx_collisions),
	ETHERPORT_COUNTER(tx_single_collisions),
	ETHERPORT_COUNTER(tx_multiple_collisions),
	ETHERPORT_COUNTER(tx_late_collisions),
	ETHERPORT_COUNTER(tx_deferred),
	ETHERPORT_COUNTER(tx_pause_frames),
	ETHERPORT_COUNTER(tx_pfc_frames),
	ETHERPORT_COUNTER(rx_wire_frames),
	ETHERPORT_COUNTER(rx_frames),
	ETHERPORT_COUNTER(rx_bytes),
	ETHERPORT_COUNTER(rx_dropped_buffer),
	ETHERPORT_COUNTER(rx_dropped_pool),
	ETHERPORT_COUNTER(rx_dropped_oversize),
	ETHERPORT_COUNTER(rx_dropped_down),
	ETHERPORT_COUNTER(rx_dropped_error),
	ETHERPORT_COUNTER(rx_dropped_collision),
	ETHERPORT_COUNTER(rx_pause_frames),
	ETHERPORT_COUNTER(rx_pfc_frames),
	ETHERPORT_COUNTER(rx_interrupts),
};

/* What is there now, behind the counters; the order of etherport_get_gauges(). */
static const char etherport_gauges[][ETH_GSTRING_LEN] = {
	"tx_paused_ns",
	"tx_paused",
	"pause_rx_active",
	"pause_tx_active",
	"tx_ring_frames",
	"tx_flight_frames",
	"rx_ring_frames",
	"buffer_bytes",
	"buffer_high_water_bytes",
	"queue_bytes",
	"queue_high_water_bytes",
	"queue_dropped_frames",
	"cpu_busy_ns",
	"pool_used_bytes",
	"tx_paused_ns_prio0",
	"tx_paused_ns_prio1",
	"tx_paused_ns_prio2",
	"tx_paused_ns_prio3",
	"tx_paused_ns_prio4",
	"tx_paused_ns_prio5",
	"tx_paused_ns_prio6",
	"tx_paused_ns_prio7",
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

struct etherport_queue_stats {
	u64 bytes;
	u64 dropped;
};

/* Of the egress queue: one qdisc for all TX queues, or one for each ("mq"). */
static void etherport_get_queue_stats(struct etherport *port, struct etherport_queue_stats *stats)
{
	struct Qdisc *last = NULL;
	int class;

	memset(stats, 0, sizeof(*stats));
	for (class = 0; class < port->class_count; class++) {
		struct netdev_queue *queue = netdev_get_tx_queue(port->dev, class);
		struct Qdisc *qdisc = rcu_dereference_bh(queue->qdisc);
		struct gnet_stats_queue counts = {};
		__u32 frames, bytes;

		if (qdisc == last)
			continue;
		last = qdisc;
		qdisc_qstats_qlen_backlog(qdisc, &frames, &bytes);
		gnet_stats_add_queue(&counts, qdisc->cpu_qstats, &qdisc->qstats);
		stats->bytes += bytes;
		stats->dropped += counts.drops;
	}
}

static void etherport_get_gauges(struct etherport *port, u64 *data)
{
	struct etherport_queue_stats queue;
	int class;

	etherport_get_queue_stats(port, &queue);
	port->queue_high_water_bytes = max(port->queue_high_water_bytes, queue.bytes);

	*data++ = etherport_paused_ns(port, 0);
	*data++ = etherport_paused(port, 0, etherport_now_ps());
	*data++ = port->pause_rx;
	*data++ = port->pause_tx;
	*data++ = etherport_tx_used(port);
	*data++ = skb_queue_len(&port->flight);
	*data++ = skb_queue_len(&port->rx_fifo) + skb_queue_len(&port->rx_ring) +
		  skb_queue_len(&port->rx_done);
	*data++ = port->buffer_used_bytes;
	*data++ = port->buffer_high_water_bytes;
	*data++ = queue.bytes;
	*data++ = port->queue_high_water_bytes;
	*data++ = queue.dropped;
	*data++ = port->cpu ? div_u64(port->cpu->cpu_busy_ps, 1000) : 0;
	*data++ = port->pool ? port->pool->pool_used_bytes : 0;
	for (class = 0; class < ETHERPORT_CLASSES; class++)
		*data++ = etherport_paused_ns(port, class);
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
