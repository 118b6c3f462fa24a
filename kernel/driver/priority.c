// SPDX-License-Identifier: GPL-2.0-only
/*
 * The priority of a frame: what its VLAN tag says (IEEE 802.1Q clause 9.6, PCP),
 * or its IP header (RFC 2474: the class selector, the upper three bits of DSCP),
 * as the port was told to trust. Who says nothing has priority 0.
 */
#include <linux/if_vlan.h>
#include <net/dsfield.h>

#include "etherport.h"

/* Class selectors are compatible with the old precedence field: three bits. */
#define ETHERPORT_DSFIELD_SHIFT	5

static int etherport_ip_priority(const struct sk_buff *skb, int offset, __be16 proto)
{
	struct ipv6hdr ip6_space;
	const struct ipv6hdr *ip6;
	struct iphdr ip4_space;
	const struct iphdr *ip4;

	switch (proto) {
	case htons(ETH_P_IP):
		ip4 = skb_header_pointer(skb, offset, sizeof(ip4_space), &ip4_space);
		return ip4 ? ipv4_get_dsfield(ip4) >> ETHERPORT_DSFIELD_SHIFT : 0;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, offset, sizeof(ip6_space), &ip6_space);
		return ip6 ? ipv6_get_dsfield(ip6) >> ETHERPORT_DSFIELD_SHIFT : 0;
	default:
		return 0;
	}
}

static int etherport_priority(const struct etherport *port, const struct sk_buff *skb)
{
	const struct vlan_ethhdr *eth;
	struct vlan_ethhdr space;
	u16 tag = 0;

	eth = skb_header_pointer(skb, 0, ETH_HLEN, &space);
	if (!eth)
		return 0;
	if (!eth_type_vlan(eth->h_vlan_proto)) {
		if (port->trust == ETHERPORT_DSCP)
			return etherport_ip_priority(skb, ETH_HLEN, eth->h_vlan_proto);
		if (skb_vlan_tag_present(skb))
			tag = skb_vlan_tag_get(skb);
	} else {
		eth = skb_header_pointer(skb, 0, VLAN_ETH_HLEN, &space);
		if (!eth)
			return 0;
		if (port->trust == ETHERPORT_DSCP)
			return etherport_ip_priority(skb, VLAN_ETH_HLEN,
						     eth->h_vlan_encapsulated_proto);
		tag = ntohs(eth->h_vlan_TCI);
	}
	return (tag & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
}

/* Of a frame whose data begins with its MAC header. */
int etherport_class_of(const struct etherport *port, const struct sk_buff *skb)
{
	return port->pfc ? etherport_priority(port, skb) : 0;
}

u16 etherport_select_queue(struct net_device *dev, struct sk_buff *skb,
			   struct net_device *sb_dev)
{
	return etherport_class_of(netdev_priv(dev), skb);
}
