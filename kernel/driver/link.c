// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cable, and whether there is a link on it.
 *
 * A port may follow another one of its node: an SFP module's side towards the
 * slot has a signal only while its line has one (SFF-8431: RX_LOS).
 */
#include <linux/rtnetlink.h>

#include "etherport.h"

static void etherport_set_link(struct etherport *port, const struct etherport_link *link)
{
	port->speed_mbps = link->speed_mbps;
	port->byte_ps = 8 * 1000 * 1000 / link->speed_mbps;
	port->half = link->half;
	port->pause_rx = link->pause_rx;
	port->pause_tx = link->pause_tx;
}

void etherport_link_init(struct etherport *port)
{
	struct etherport_link link = {
		.speed_mbps = port->forced_mbps,
		.half = port->forced_half,
		.pause_rx = port->pause_rx_asked,
		.pause_tx = port->pause_tx_asked,
	};

	etherport_supported(port->advertising);
	etherport_set_link(port, &link);
}

/* The port that this one follows. False: it follows one that is not there. */
static bool etherport_leader(const struct etherport *port, const struct etherport **leader)
{
	struct net_device *dev;

	*leader = NULL;
	if (!port->follow[0])
		return true;

	dev = __dev_get_by_name(dev_net(port->dev), port->follow);
	if (!dev || !etherport_is(dev))
		return false;
	*leader = netdev_priv(dev);
	return netif_carrier_ok(dev);
}

static void etherport_link_down(struct etherport *port)
{
	netif_carrier_off(port->dev);
	etherport_pause_stop(port);
}

static void etherport_link_up(struct etherport *port, const struct etherport_link *link)
{
	if (port->speed_mbps != link->speed_mbps || port->half != link->half)
		etherport_link_down(port);

	local_bh_disable();
	etherport_set_link(port, link);
	if (!port->pause_rx && !port->pfc)
		etherport_pause_over(port);
	local_bh_enable();
	netif_carrier_on(port->dev);
	local_bh_disable();
	etherport_pause_watch_all(port);
	etherport_tx_resume(port);
	local_bh_enable();
}

static void etherport_link_lost(struct etherport *port)
{
	etherport_link_down(port);
	local_bh_disable();
	etherport_tx_flush(port);
	local_bh_enable();
}

/* As if the cable were pulled: both ends forget what they were told. Then resolve. */
void etherport_unlink(struct etherport *port)
{
	ASSERT_RTNL();
	etherport_link_lost(port);
	if (port->peer)
		etherport_link_lost(port->peer);
}

static void etherport_resolve_pair(struct etherport *port, struct etherport *peer)
{
	const struct etherport *leader, *peer_leader;
	struct etherport_link link, peer_link;

	if (netif_running(port->dev) && netif_running(peer->dev) &&
	    etherport_leader(port, &leader) && etherport_leader(peer, &peer_leader) &&
	    etherport_agree(port, leader, peer, peer_leader, &link, &peer_link)) {
		etherport_link_up(port, &link);
		etherport_link_up(peer, &peer_link);
	} else {
		etherport_unlink(port);
	}
}

static void etherport_resolve_followers(struct etherport *leader)
{
	struct net_device *dev;

	for_each_netdev(dev_net(leader->dev), dev) {
		struct etherport *port = netdev_priv(dev);

		if (etherport_is(dev) && port->peer && !strcmp(port->follow, leader->dev->name))
			etherport_resolve_pair(port, port->peer);
	}
}

static bool etherport_shares(const struct etherport *port)
{
	return port->half || port->role == ETHERPORT_REPEAT || !list_empty(&port->medium);
}

/*
 * After any change of one end: bring the link of both up to date, and those of
 * the ports that follow them. Who follows is followed by nobody.
 */
void etherport_resolve(struct etherport *port)
{
	struct etherport *peer = port->peer;
	bool shared = etherport_shares(port) || (peer && etherport_shares(peer));

	ASSERT_RTNL();
	if (peer) {
		etherport_resolve_pair(port, peer);
		etherport_resolve_followers(peer);
	} else {
		etherport_unlink(port);
	}
	etherport_resolve_followers(port);
	if (shared || etherport_shares(port) || (peer && etherport_shares(peer)))
		etherport_hub_update();
}

void etherport_plug(struct etherport *port, struct etherport *peer)
{
	ASSERT_RTNL();
	local_bh_disable();
	port->peer = peer;
	peer->peer = port;
	port->cable_delay_ns = peer->cable_delay_ns;
	local_bh_enable();
	etherport_resolve(port);
}

void etherport_unplug(struct etherport *port)
{
	struct etherport *peer = port->peer;

	ASSERT_RTNL();
	if (!peer)
		return;

	local_bh_disable();
	etherport_cable_cut(port);
	etherport_cable_cut(peer);
	port->peer = NULL;
	peer->peer = NULL;
	local_bh_enable();
	etherport_resolve(port);
	etherport_resolve(peer);
}
