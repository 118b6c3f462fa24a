// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a port has counted. The standard statistics come first (ip -s link,
 * ethtool -S --groups, ethtool -I -a); ethtool -S has what none of them knows.
 */
#include <linux/if_vlan.h>
#include <net/sch_generic.h>

#include "etherport.h"

/* Whatever a wrong FCS tells of: a MAC cannot know what the frame was. */
static u64 etherport_fcs_errors(const struct etherport_counters *count)
{
	return count->rx_dropped_collision + count->rx_dropped_fcs +
	       count->rx_damaged_control_frames;
}

void etherport_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	const struct etherport *port = netdev_priv(dev);
	const struct etherport_counters *count = &port->count;

	stats->tx_packets = count->tx_frames;
	stats->tx_bytes = count->tx_bytes;
	stats->tx_dropped = count->tx_dropped_error;
	stats->collisions = count->tx_collisions;
	stats->tx_aborted_errors = count->tx_excessive_collisions;
	stats->tx_window_errors = count->tx_late_collisions;
	stats->tx_carrier_errors = count->tx_dropped_down;
	stats->tx_errors = stats->tx_carrier_errors + count->tx_dropped_collisions;
	stats->rx_packets = count->rx_frames;
	stats->rx_bytes = count->rx_bytes;
	stats->rx_missed_errors = count->rx_dropped_buffer + count->rx_dropped_pool;
	stats->rx_length_errors = count->rx_dropped_oversize;
	stats->rx_crc_errors = etherport_fcs_errors(count);
	stats->rx_errors = count->rx_dropped_oversize + stats->rx_crc_errors;
	stats->rx_dropped = count->rx_dropped_error + count->rx_dropped_down;
	stats->rx_otherhost_dropped = count->rx_filtered_frames;
}

/* IEEE 802.3 clause 30.3.1.1, of frames of data; what is not set is not counted. */
void etherport_get_eth_mac_stats(struct net_device *dev, struct ethtool_eth_mac_stats *stats)
{
	const struct etherport *port = netdev_priv(dev);
	const struct etherport_counters *count = &port->count;

	stats->FramesTransmittedOK = count->tx_frames;
	stats->OctetsTransmittedOK = count->tx_bytes - count->tx_frames * ETH_HLEN;
	stats->SingleCollisionFrames = count->tx_single_collisions;
	stats->MultipleCollisionFrames = count->tx_multiple_collisions;
	stats->LateCollisions = count->tx_late_collisions;
	stats->FramesAbortedDueToXSColls = count->tx_excessive_collisions;
	stats->FramesWithDeferredXmissions = count->tx_deferred;
	stats->FramesLostDueToIntMACXmitError = count->tx_dropped_error;
	stats->FramesReceivedOK = count->rx_frames;
	stats->OctetsReceivedOK = count->rx_bytes - count->rx_frames * ETH_HLEN;
	stats->FrameCheckSequenceErrors = etherport_fcs_errors(count);
	stats->FrameTooLongErrors = count->rx_dropped_oversize;
	stats->FramesLostDueToIntMACRcvError = count->rx_dropped_buffer +
					       count->rx_dropped_pool + count->rx_dropped_error;
}

/* Clause 30.3.3 */
void etherport_get_eth_ctrl_stats(struct net_device *dev, struct ethtool_eth_ctrl_stats *stats)
{
	const struct etherport *port = netdev_priv(dev);
	const struct etherport_counters *count = &port->count;

	stats->MACControlFramesTransmitted = count->tx_pause_frames + count->tx_pfc_frames +
					     count->tx_unknown_control_frames;
	stats->MACControlFramesReceived = count->rx_pause_frames + count->rx_pfc_frames +
					  count->rx_unknown_control_frames;
	stats->UnsupportedOpcodesReceived = count->rx_unknown_control_frames;
}

void etherport_get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	const struct etherport *port = netdev_priv(dev);

	stats->tx_pause_frames = port->count.tx_pause_frames;
	stats->rx_pause_frames = port->count.rx_pause_frames;
}

void etherport_get_rmon_stats(struct net_device *dev, struct ethtool_rmon_stats *stats,
			      const struct ethtool_rmon_hist_range **ranges)
{
	const struct etherport *port = netdev_priv(dev);

	stats->oversize_pkts = port->count.rx_dropped_oversize;
	memcpy(stats->hist, port->rx_sizes, sizeof(port->rx_sizes));
	memcpy(stats->hist_tx, port->tx_sizes, sizeof(port->tx_sizes));
	*ranges = etherport_size_ranges;
}

#define ETHERPORT_COUNTER(name) { #name, offsetof(struct etherport_counters, name) }

static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} etherport_counter_list[] = {
	ETHERPORT_COUNTER(tx_lost_frames),
	ETHERPORT_COUNTER(tx_dropped_down),
	ETHERPORT_COUNTER(tx_dropped_error),
	ETHERPORT_COUNTER(tx_dropped_collisions),
	ETHERPORT_COUNTER(tx_pfc_frames),
	ETHERPORT_COUNTER(tx_unknown_control_frames),
	ETHERPORT_COUNTER(tx_injected_frames),
	ETHERPORT_COUNTER(rx_wire_frames),
	ETHERPORT_COUNTER(rx_filtered_frames),
	ETHERPORT_COUNTER(rx_dropped_buffer),
	ETHERPORT_COUNTER(rx_dropped_pool),
	ETHERPORT_COUNTER(rx_dropped_oversize),
	ETHERPORT_COUNTER(rx_dropped_down),
	ETHERPORT_COUNTER(rx_dropped_error),
	ETHERPORT_COUNTER(rx_dropped_collision),
	ETHERPORT_COUNTER(rx_dropped_fcs),
	ETHERPORT_COUNTER(rx_damaged_control_frames),
	ETHERPORT_COUNTER(rx_pfc_frames),
	ETHERPORT_COUNTER(interrupts),
};

/* What is there now, behind the counters; the order of etherport_get_gauges(). */
static const char etherport_gauges[][ETH_GSTRING_LEN] = {
	"tx_paused_ns",
	"tx_paused",
	"link_negotiating",
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

int etherport_get_sset_count(struct net_device *dev, int stringset)
{
	if (stringset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(etherport_counter_list) + ARRAY_SIZE(etherport_gauges);
}

void etherport_get_strings(struct net_device *dev, u32 stringset, u8 *data)
{
	int i;

	if (stringset != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(etherport_counter_list); i++, data += ETH_GSTRING_LEN)
		memcpy(data, etherport_counter_list[i].name, ETH_GSTRING_LEN);
	memcpy(data, etherport_gauges, sizeof(etherport_gauges));
}

/* Of all egress queues, as of etherport_queues_bytes(). */
static u64 etherport_queues_dropped(struct etherport *port)
{
	struct Qdisc *last = NULL;
	u64 dropped = 0;
	int class;

	for (class = 0; class < port->class_count; class++) {
		struct netdev_queue *queue = netdev_get_tx_queue(port->dev, class);
		struct Qdisc *qdisc = rcu_dereference_bh(queue->qdisc);
		struct gnet_stats_queue counts = {};

		if (qdisc == last)
			continue;
		last = qdisc;
		gnet_stats_add_queue(&counts, qdisc->cpu_qstats, &qdisc->qstats);
		dropped += counts.drops;
	}
	return dropped;
}

static void etherport_get_gauges(struct etherport *port, u64 *data)
{
	u64 queues_bytes = etherport_queues_bytes(port);
	int class;

	port->queue_high_water_bytes = max(port->queue_high_water_bytes, queues_bytes);

	*data++ = etherport_paused_ns(port, 0);
	*data++ = etherport_paused(port, 0, etherport_now_ps());
	*data++ = port->negotiating;
	*data++ = port->pause_rx && !port->pfc;
	*data++ = port->pause_tx && !port->pfc;
	*data++ = etherport_tx_waiting(port);
	*data++ = skb_queue_len(&port->flight);
	*data++ = skb_queue_len(&port->rx_fifo) + skb_queue_len(&port->rx_ring) +
		  skb_queue_len(&port->rx_done) + skb_queue_len(&port->forwarding);
	*data++ = port->buffer_used_bytes;
	*data++ = port->buffer_high_water_bytes;
	*data++ = queues_bytes;
	*data++ = port->queue_high_water_bytes;
	*data++ = etherport_queues_dropped(port);
	*data++ = port->cpu ? div_u64(port->cpu->cpu_busy_ps, 1000) : 0;
	*data++ = port->pool ? port->pool->pool_used_bytes : 0;
	for (class = 0; class < ETHERPORT_CLASSES; class++)
		*data++ = etherport_paused_ns(port, class);
}

void etherport_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct etherport *port = netdev_priv(dev);
	int i;

	local_bh_disable();
	for (i = 0; i < ARRAY_SIZE(etherport_counter_list); i++)
		*data++ = *(u64 *)((void *)&port->count + etherport_counter_list[i].offset);
	etherport_get_gauges(port, data);
	local_bh_enable();
}
