// SPDX-License-Identifier: GPL-2.0-only
/* Settings the way real NICs have them: ethtool -s -A -C -G; what -S shows is in stats.c. */
#include <linux/linkmode.h>

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
		/* As with Intel's drivers, its PAUSE bits are what -A says, whatever they are here. */
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

static int etherport_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
				  struct kernel_ethtool_coalesce *kernel_coalesce,
				  struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	coalesce->rx_coalesce_usecs = port->vector.usecs;
	coalesce->rx_max_coalesced_frames = port->vector.max_frames;
	coalesce->tx_coalesce_usecs = port->vector.tx_usecs;
	coalesce->tx_max_coalesced_frames = port->vector.tx_max_frames;
	coalesce->use_adaptive_rx_coalesce = port->vector.adaptive;
	coalesce->use_adaptive_tx_coalesce = port->vector.tx_adaptive;
	kernel_coalesce->use_cqe_mode_rx = port->vector.from == ETHERPORT_LAST;
	return 0;
}

static int etherport_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
				  struct kernel_ethtool_coalesce *kernel_coalesce,
				  struct netlink_ext_ack *extack)
{
	struct etherport *port = netdev_priv(dev);

	bool adaptive = coalesce->use_adaptive_rx_coalesce;
	bool tx_adaptive = coalesce->use_adaptive_tx_coalesce;

	if (kernel_coalesce->use_cqe_mode_tx) {
		NL_SET_ERR_MSG(extack, "tx-usecs counts from the first frame that has left");
		return -EOPNOTSUPP;
	}
	if (adaptive && port->vector.algorithm == ETHERPORT_FIXED) {
		NL_SET_ERR_MSG(extack, "etherport/rx_adaptive says by which algorithm: none yet");
		return -EOPNOTSUPP;
	}
	if (tx_adaptive && port->vector.algorithm != ETHERPORT_DIM) {
		NL_SET_ERR_MSG(extack, "only the algorithm dim adapts it: etherport/rx_adaptive");
		return -EOPNOTSUPP;
	}
	local_bh_disable();
	port->vector.usecs = coalesce->rx_coalesce_usecs;
	port->vector.max_frames = coalesce->rx_max_coalesced_frames;
	port->vector.tx_usecs = coalesce->tx_coalesce_usecs;
	port->vector.tx_max_frames = coalesce->tx_max_coalesced_frames;
	if (kernel_coalesce->use_cqe_mode_rx) {
		if (port->vector.from != ETHERPORT_LAST)
			port->vector.from_before = port->vector.from;
		port->vector.from = ETHERPORT_LAST;
	} else if (port->vector.from == ETHERPORT_LAST) {
		port->vector.from = port->vector.from_before;
	}
	if (adaptive && !port->vector.adaptive)
		etherport_adapt_start(&port->vector);
	port->vector.adaptive = adaptive;
	if (tx_adaptive && !port->vector.tx_adaptive)
		etherport_adapt_tx_start(&port->vector);
	port->vector.tx_adaptive = tx_adaptive;
	etherport_moderate_anew(port);
	local_bh_enable();
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

	local_bh_disable();
	port->rx_ring_size = ring->rx_pending;
	port->tx_ring_size = ring->tx_pending;
	etherport_rx_moderate(port);
	etherport_tx_moderate(port, etherport_now_ps());
	local_bh_enable();
	return 0;
}

const struct ethtool_ops etherport_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS |
				     ETHTOOL_COALESCE_RX_MAX_FRAMES |
				     ETHTOOL_COALESCE_TX_USECS |
				     ETHTOOL_COALESCE_TX_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE |
				     /* The bit of each is the other's attribute: both or none. */
				     ETHTOOL_COALESCE_USE_CQE,
	.get_drvinfo		= etherport_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_ts_info		= ethtool_op_get_ts_info,
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
	.get_eth_mac_stats	= etherport_get_eth_mac_stats,
	.get_eth_ctrl_stats	= etherport_get_eth_ctrl_stats,
	.get_rmon_stats		= etherport_get_rmon_stats,
};
