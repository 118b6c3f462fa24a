// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cable, and whether there is a link on it.
 *
 * Two ends that negotiate take their time before they have one: each breaks the
 * link, so that the other notices, tells what it has, and trains its receiver (IEEE
 * 802.3 clauses 28.3, 40.4, 55.4). The slower of them says how long that is. What
 * changes meanwhile begins it anew.
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

static bool etherport_has_link(const struct etherport *port, const struct etherport_link *link)
{
	return netif_carrier_ok(port->dev) && port->speed_mbps == link->speed_mbps &&
	       port->half == link->half;
}

/* Who is forced does not wait for itself, but for the other end, which has to find out. */
static u64 etherport_autoneg_ms(const struct etherport *port, const struct etherport *peer)
{
	return max(port->autoneg ? port->autoneg_ms : 0, peer->autoneg ? peer->autoneg_ms : 0);
}

static void etherport_autoneg_start(struct etherport *port, u64 ms)
{
	u64 now_ps;

	local_bh_disable();
	port->negotiating = true;
	now_ps = etherport_now_ps();
	etherport_event_at(&port->autoneg_event, now_ps + ms * NSEC_PER_MSEC * 1000, now_ps);
	local_bh_enable();
}

static void etherport_autoneg_stop(struct etherport *port)
{
	local_bh_disable();
	port->negotiating = false;
	etherport_event_cancel(&port->autoneg_event);
	local_bh_enable();
}

/* ``negotiated``: whatever the two would have to tell each other has been told. */
static void etherport_resolve_pair(struct etherport *port, struct etherport *peer, bool negotiated)
{
	const struct etherport *leader, *peer_leader;
	struct etherport_link link, peer_link;
	u64 ms;

	etherport_autoneg_stop(port);
	etherport_autoneg_stop(peer);
	if (!netif_running(port->dev) || !netif_running(peer->dev) ||
	    !etherport_leader(port, &leader) || !etherport_leader(peer, &peer_leader) ||
	    !etherport_agree(port, leader, peer, peer_leader, &link, &peer_link)) {
		etherport_unlink(port);
		return;
	}
	ms = etherport_autoneg_ms(port, peer);
	if (!negotiated && ms &&
	    !(etherport_has_link(port, &link) && etherport_has_link(peer, &peer_link))) {
		etherport_unlink(port);
		etherport_autoneg_start(port, ms);
		return;
	}
	etherport_link_up(port, &link);
	etherport_link_up(peer, &peer_link);
}

static bool etherport_shares(const struct etherport *port)
{
	return port->half || port->role == ETHERPORT_REPEAT || !list_empty(&port->medium) ||
	       (port->peer && (port->peer->half || !list_empty(&port->peer->medium)));
}

/* Whether a medium is concerned that the two share, or shared until now. */
static bool etherport_resolve_shared(struct etherport *port, bool negotiated)
{
	bool shared = etherport_shares(port);

	if (port->peer) {
		etherport_resolve_pair(port, port->peer, negotiated);
	} else {
		etherport_autoneg_stop(port);
		etherport_unlink(port);
	}
	return shared || etherport_shares(port);
}

static bool etherport_resolve_followers(struct etherport *leader)
{
	bool shared = false;
	struct net_device *dev;

	for_each_netdev(dev_net(leader->dev), dev) {
		struct etherport *port = netdev_priv(dev);

		if (etherport_is(dev) && port->peer && !strcmp(port->follow, leader->dev->name))
			shared |= etherport_resolve_shared(port, false);
	}
	return shared;
}

static void etherport_settle(struct etherport *port, bool negotiated)
{
	bool shared;

	ASSERT_RTNL();
	shared = etherport_resolve_shared(port, negotiated);
	if (port->peer)
		shared |= etherport_resolve_followers(port->peer);
	shared |= etherport_resolve_followers(port);
	if (shared)
		etherport_hub_update();
}

/*
 * After any change of one end: bring the link of both up to date, and those of
 * the ports that follow them. Who follows a follower is not looked for.
 */
void etherport_resolve(struct etherport *port)
{
	etherport_settle(port, false);
}

/*
 * A carrier needs RTNL, and virtual time has none to give. Who deletes the port
 * holds RTNL, but does not wait for this while it does: only then for the last
 * one who holds the device.
 */
static void etherport_autoneg_done(struct work_struct *work)
{
	struct etherport *port = container_of(work, struct etherport, autoneg_work);

	rtnl_lock();
	/* It may have been called off, or begun anew, since the event. */
	if (port->negotiating && !etherport_event_pending(&port->autoneg_event))
		etherport_settle(port, true);
	rtnl_unlock();
	dev_put(port->dev);
}

static void etherport_autoneg_event(struct etherport_event *event)
{
	struct etherport *port = container_of(event, struct etherport, autoneg_event);

	dev_hold(port->dev);
	if (!schedule_work(&port->autoneg_work))
		dev_put(port->dev);
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
	INIT_WORK(&port->autoneg_work, etherport_autoneg_done);
	etherport_event_init(&port->autoneg_event, etherport_autoneg_event);
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
