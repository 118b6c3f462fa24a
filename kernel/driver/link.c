// SPDX-License-Identifier: GPL-2.0-only
/* The cable and what its two ends agree on: speed and carrier. */
#include <linux/rtnetlink.h>

#include "etherport.h"

static const u32 etherport_speeds_mbps[] = {
	SPEED_10, SPEED_100, SPEED_1000, SPEED_2500,
	SPEED_5000, SPEED_10000, SPEED_25000,
};

bool etherport_speed_known(u32 speed_mbps)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(etherport_speeds_mbps); i++)
		if (etherport_speeds_mbps[i] == speed_mbps)
			return true;
	return false;
}

void etherport_set_speed(struct etherport *port, u32 speed_mbps)
{
	port->speed_mbps = speed_mbps;
	port->byte_ps = 8 * 1000 * 1000 / speed_mbps;
}

/*
 * There is a link when both ends are up and talk at the same speed: two PHYs
 * that are forced to different speeds never find each other's idle signal.
 */
static bool etherport_linked(const struct etherport *port)
{
	const struct etherport *peer = port->peer;

	return peer && netif_running(port->dev) && netif_running(peer->dev) &&
	       port->speed_mbps == peer->speed_mbps;
}

static void etherport_set_carrier(struct etherport *port, bool on)
{
	if (on)
		netif_carrier_on(port->dev);
	else
		netif_carrier_off(port->dev);
}

/* After any change of one end: bring the carrier of both up to date. */
void etherport_resolve(struct etherport *port)
{
	bool on = etherport_linked(port);

	ASSERT_RTNL();
	etherport_set_carrier(port, on);
	if (port->peer)
		etherport_set_carrier(port->peer, on);
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
	port->peer = NULL;
	peer->peer = NULL;
	local_bh_enable();
	etherport_resolve(port);
	etherport_resolve(peer);
}
