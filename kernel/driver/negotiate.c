// SPDX-License-Identifier: GPL-2.0-only
/*
 * What two PHYs agree on: speed, duplex and flow control.
 *
 * IEEE 802.3 clause 28 and Annex 28B. Where only one end negotiates, it can hear
 * at which speed the other one talks (parallel detection, 28.2.3.1), but not in
 * which duplex, and must take half: the duplex mismatch that so many networks
 * have suffered from. From 1000BASE-T on, negotiation is not optional (40.5.1).
 *
 * Between an SFP module and its slot there is no such exchange. An end that is
 * not forced takes the speed that the other one's signal has.
 */
#include <linux/linkmode.h>
#include <linux/phy.h>

#include "etherport.h"

/* In the order of priority, Annex 28B.3 and its additions. */
static const struct etherport_mode {
	enum ethtool_link_mode_bit_indices bit;
	u32 speed_mbps;
	bool half;
} etherport_modes[] = {
	{ ETHTOOL_LINK_MODE_25000baseCR_Full_BIT, SPEED_25000, false },
	{ ETHTOOL_LINK_MODE_10000baseT_Full_BIT, SPEED_10000, false },
	{ ETHTOOL_LINK_MODE_5000baseT_Full_BIT, SPEED_5000, false },
	{ ETHTOOL_LINK_MODE_2500baseT_Full_BIT, SPEED_2500, false },
	{ ETHTOOL_LINK_MODE_1000baseT_Full_BIT, SPEED_1000, false },
	{ ETHTOOL_LINK_MODE_100baseT_Full_BIT, SPEED_100, false },
	{ ETHTOOL_LINK_MODE_100baseT_Half_BIT, SPEED_100, true },
	{ ETHTOOL_LINK_MODE_10baseT_Full_BIT, SPEED_10, false },
	{ ETHTOOL_LINK_MODE_10baseT_Half_BIT, SPEED_10, true },
};

/* Every mode a port can have. */
void etherport_supported(unsigned long *modes)
{
	int i;

	linkmode_zero(modes);
	for (i = 0; i < ARRAY_SIZE(etherport_modes); i++)
		linkmode_set_bit(etherport_modes[i].bit, modes);
}

bool etherport_mode_known(u32 speed_mbps, bool half)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(etherport_modes); i++)
		if (etherport_modes[i].speed_mbps == speed_mbps && etherport_modes[i].half == half)
			return true;
	return false;
}

/* A module's side towards its slot offers what its line has, if it negotiates. */
static bool etherport_offers(const struct etherport *port, const struct etherport *leader,
			     const struct etherport_mode *mode)
{
	return linkmode_test_bit(mode->bit, port->advertising) &&
	       (!leader || leader->speed_mbps == mode->speed_mbps);
}

static const struct etherport_mode *etherport_common(const struct etherport *a,
						     const struct etherport *a_leader,
						     const struct etherport *b,
						     const struct etherport *b_leader)
{
	const struct etherport_mode *mode = etherport_modes;
	int i;

	for (i = 0; i < ARRAY_SIZE(etherport_modes); i++, mode++)
		if (etherport_offers(a, a_leader, mode) && etherport_offers(b, b_leader, mode))
			return mode;
	return NULL;
}

/* What an end that negotiates makes of one that is forced. */
static bool etherport_detect(const struct etherport *port, const struct etherport *leader,
			     const struct etherport *forced, bool slot, bool *half)
{
	const struct etherport_mode *mode = etherport_modes;
	int i;

	*half = !slot;
	if (!slot && forced->forced_mbps > SPEED_100)
		return false;
	for (i = 0; i < ARRAY_SIZE(etherport_modes); i++, mode++)
		if (mode->speed_mbps == forced->forced_mbps && mode->half == *half &&
		    etherport_offers(port, leader, mode))
			return true;
	return false;
}

/* Table 28B-3: who may pause whom. What a port wants is told in two bits. */
static void etherport_negotiate_pause(const struct etherport *port,
				      const struct etherport *peer,
				      struct etherport_link *link)
{
	bool sym = port->pause_rx_asked, asym = port->pause_rx_asked != port->pause_tx_asked;
	bool peer_sym = peer->pause_rx_asked;
	bool peer_asym = peer->pause_rx_asked != peer->pause_tx_asked;

	link->pause_rx = sym && (peer_sym || (asym && peer_asym));
	link->pause_tx = peer_sym && (sym || (asym && peer_asym));
}

static void etherport_agree_pause(const struct etherport *port, const struct etherport *peer,
				  struct etherport_link *link)
{
	if (link->half) {
		/* 31.1: flow control is for full duplex only */
		link->pause_rx = false;
		link->pause_tx = false;
	} else if (port->autoneg && peer->autoneg && port->pause_autoneg) {
		etherport_negotiate_pause(port, peer, link);
	} else {
		link->pause_rx = port->pause_rx_asked;
		link->pause_tx = port->pause_tx_asked;
	}
}

/*
 * The two ends of a cable, each with the port it follows, or NULL. False: they
 * do not agree on a speed, there is no link.
 */
bool etherport_agree(const struct etherport *a, const struct etherport *a_leader,
		     const struct etherport *b, const struct etherport *b_leader,
		     struct etherport_link *a_link, struct etherport_link *b_link)
{
	bool slot = a_leader || b_leader;
	const struct etherport_mode *mode;

	a_link->speed_mbps = a->forced_mbps;
	a_link->half = a->forced_half;
	b_link->speed_mbps = b->forced_mbps;
	b_link->half = b->forced_half;

	if (a->autoneg && b->autoneg) {
		mode = etherport_common(a, a_leader, b, b_leader);
		if (!mode)
			return false;
		a_link->speed_mbps = mode->speed_mbps;
		a_link->half = mode->half;
		b_link->speed_mbps = mode->speed_mbps;
		b_link->half = mode->half;
	} else if (a->autoneg) {
		if (!etherport_detect(a, a_leader, b, slot, &a_link->half))
			return false;
		a_link->speed_mbps = b->forced_mbps;
	} else if (b->autoneg) {
		if (!etherport_detect(b, b_leader, a, slot, &b_link->half))
			return false;
		b_link->speed_mbps = a->forced_mbps;
	} else if (a->forced_mbps != b->forced_mbps) {
		return false;
	}
	etherport_agree_pause(a, b, a_link);
	etherport_agree_pause(b, a, b_link);
	return true;
}
