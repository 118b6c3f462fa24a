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

/* Of an IP packet, behind whatever tags there are: a customer's in a provider's (802.1ad). */
static int etherport_dscp_priority(const struct sk_buff *skb, __be16 proto)
{
	const struct vlan_hdr *vlan;
	int offset = ETH_HLEN;
	struct vlan_hdr space;

	while (eth_type_vlan(proto)) {
		vlan = skb_header_pointer(skb, offset, sizeof(space), &space);
		if (!vlan)
			return 0;
		proto = vlan->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	return etherport_ip_priority(skb, offset, proto);
}

/* The outer tag counts, which may still be beside the frame. */
static int etherport_pcp(const struct sk_buff *skb, __be16 proto)
{
	const struct vlan_hdr *vlan;
	struct vlan_hdr space;
	u16 tag = 0;

	if (skb_vlan_tag_present(skb)) {
		tag = skb_vlan_tag_get(skb);
	} else if (eth_type_vlan(proto)) {
		vlan = skb_header_pointer(skb, ETH_HLEN, sizeof(space), &space);
		if (vlan)
			tag = ntohs(vlan->h_vlan_TCI);
	}
	return (tag & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
}

static int etherport_priority(const struct etherport *port, const struct sk_buff *skb)
{
	const struct ethhdr *eth;
	struct ethhdr space;

	eth = skb_header_pointer(skb, 0, sizeof(space), &space);
	if (!eth)
		return 0;
	return port->trust == ETHERPORT_DSCP ? etherport_dscp_priority(skb, eth->h_proto) :
					       etherport_pcp(skb, eth->h_proto);
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
