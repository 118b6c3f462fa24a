/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An emulated Ethernet port: one MAC with its PHY.
 *
 *   stack -> qdisc -> TX ring -> serializer ==cable==> peer
 *                        ^ PAUSE                         |
 *   stack <- NAPI <- RX ring <- packet buffer <----------+   host
 *   other ports' qdiscs <------ packet buffer <----------+   switch, module
 *
 * Locking: everything that moves frames runs in softirq context on the one CPU
 * (the events of event.c, NAPI, the qdisc's transmit path), so no two ports are
 * ever at work at once. Process context (ethtool, sysfs, netlink) holds RTNL
 * against itself and disables bottom halves against the datapath.
 *
 * Time: a schedule is kept in picoseconds. A byte takes a whole number of them
 * at every speed of 802.3 up to 25 Gbit/s (320 ps), so nothing is ever rounded
 * away between frames that follow each other.
 */
#ifndef _ETHERPORT_H
#define _ETHERPORT_H

#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/time-internal.h>
#include <net/rtnetlink.h>

#include "bus_cpu.h"
#include "capture.h"
#include "compat.h"
#include "counters.h"
#include "medium.h"
#include "memory.h"
#include "moderation.h"
#include "record.h"
#include "role.h"

/* IEEE 802.3 clause 3.1.1 and 4.4.2: octets around each frame on the wire */
#define ETHERPORT_PREAMBLE_LEN	8	/* preamble and start frame delimiter */
#define ETHERPORT_IFG_LEN	12	/* inter-frame gap, 96 bit times */

/* IEEE 802.3 Annex 31B: the pause time is counted in 512 bit times */
#define ETHERPORT_QUANTUM_LEN	64	/* octets */
#define ETHERPORT_QUANTA_MAX	0xffff

#define ETHERPORT_KIND		"etherport"	/* ip link add type */
#define ETHERPORT_MAX_MTU	9216
#define ETHERPORT_MAX_DELAY_NS	(60ULL * NSEC_PER_SEC)
#define ETHERPORT_MAX_REACTION_NS	NSEC_PER_SEC
#define ETHERPORT_MAX_AUTONEG_MS	(60ULL * MSEC_PER_SEC)
#define ETHERPORT_MAX_CAPTURE_NS	(60ULL * NSEC_PER_SEC)
#define ETHERPORT_MAX_RING	8192
#define ETHERPORT_MIN_BUS_BPS	1000000
#define ETHERPORT_MAX_BUS_LEN	(64 * 1024)
#define ETHERPORT_MAX_CPU_NS	(60ULL * NSEC_PER_SEC)
#define ETHERPORT_MAX_CPU_BYTE_PS	PSEC_PER_SEC
#define ETHERPORT_MAX_BITS	BIT_ULL(56)	/* between two errors: many times that are still a u64 */
#define ETHERPORT_TX_PREFETCH	2	/* frames that CPU and bus are at ahead of the wire */
#define ETHERPORT_CLASSES	8	/* IEEE 802.1Q: priorities */
#define ETHERPORT_SIZES		7	/* RFC 2819: ranges of lengths */
#define ETHERPORT_SHARED_MAX	256	/* nodes with a CPU or a memory of their own */

/* What tells the priority of a frame, see priority.c */
enum etherport_trust {
	ETHERPORT_PCP,		/* its VLAN tag */
	ETHERPORT_DSCP,		/* its IP header */
};

/* What one end of a cable has agreed to, see negotiate.c */
struct etherport_link {
	u32 speed_mbps;
	bool half;
	bool pause_rx;
	bool pause_tx;
};

/* Something that is to happen at an instant of virtual time, see event.c */
struct etherport_event {
	struct time_travel_event tt;
	struct list_head due;
	void (*fn)(struct etherport_event *event);
};

/* Which of the bits that come in are wrong, see bit_error.c */
struct etherport_bit_errors {
	u64 mean_bits;			/* between two of them; 0: none is */
	u64 left_bits;			/* up to the next one */
	struct rnd_state random;
};

/*
 * What priority flow control keeps apart. A port that was made with one TX queue
 * has one class for all priorities; each class has a queue, each queue a class.
 */
struct etherport_class {
	struct sk_buff_head tx_ring;	/* waiting behind tx_frame */
	bool queue_waits;		/* stopped when the end of the last frame was noticed */
	u64 used_bytes;			/* of the packet buffer */
	bool xoff_sent;			/* the peer was told to be silent */
	u64 paused_until_ps;		/* the peer asked for silence until here */
	u64 paused_since_ps;		/* accounted up to here; 0: not paused */
	u64 paused_ps;			/* time the peer kept us silent */
	u64 pfc_requests;		/* PFC frames that told the peer of this class */
	u64 pfc_indications;		/* and that the peer told of it */
	u32 left_frames;		/* sent, and the host has still to hear of them */
	u32 left_bytes;
};

struct etherport {
	struct net_device *dev;
	struct etherport *peer;		/* the cable's other end, or NULL */
	enum etherport_role role;
	struct etherport_counters count;
	u64 tx_sizes[ETHERPORT_SIZES];	/* frames on the cable, by their length */
	u64 rx_sizes[ETHERPORT_SIZES];

	/* link.c, negotiate.c: what was asked for, then what holds */
	bool autoneg;
	__ETHTOOL_DECLARE_LINK_MODE_MASK(advertising);
	u32 forced_mbps;		/* without autoneg */
	bool forced_half;
	bool pause_autoneg;
	bool pause_rx_asked;
	bool pause_tx_asked;
	char follow[IFNAMSIZ];		/* a link only while that port has one */
	u64 autoneg_ms;			/* what this end takes for it, training included */
	bool negotiating;
	struct etherport_event autoneg_event;	/* both ends are through */
	struct work_struct autoneg_work;	/* and have a link, as soon as RTNL is free */
	u32 speed_mbps;
	u32 byte_ps;			/* what a byte takes at this speed */
	bool half;
	bool pause_rx;			/* obey PAUSE */
	bool pause_tx;			/* send PAUSE */
	u64 cable_delay_ns;		/* of a bit, to the peer */

	/* transmit.c */
	struct etherport_class classes[ETHERPORT_CLASSES];
	u32 class_count;
	u32 tx_ring_size;		/* of each class */
	struct sk_buff *tx_frame;	/* the one whose turn it is */
	bool tx_begun;			/* it is on the wire, and does not wait for a medium */
	bool tx_control;		/* it is the MAC's own, not data */
	struct etherport_event tx_event;	/* its last bit, or the end of a pause */
	u64 tx_free_ps;			/* the serializer is free from here */
	u64 tx_noticed_ps;		/* when that was noticed, maybe later */
	u64 queue_high_water_bytes;	/* of the egress queue, the root qdisc */

	/* complete.c */
	struct sk_buff_head charges;	/* of the frames that have left */
	struct etherport_event left_event;	/* the interrupt that tells of them */

	/* cable.c */
	struct sk_buff_head flight;	/* on the cable towards the peer */
	struct etherport_event flight_event;
	void (*receive)(struct etherport *port, struct sk_buff *skb);

	struct etherport_bit_errors bit_errors;

	/* medium.c, hub.c */
	struct list_head stations;	/* all ports there are */
	struct list_head medium;	/* those who share ours; empty: nobody */
	u64 medium_delay_ps;		/* to the most distant of them */
	bool sending;
	bool collided;
	bool late;			/* noticed later than the slot time */
	bool deferring;			/* waits since it heard somebody */
	bool deferred;			/* its frame had to wait for somebody else's */
	bool tx_damaged;		/* full duplex: sent into somebody's frame */
	bool tx_given_up;
	u8 attempts;			/* so far, of this frame */
	u64 sending_from_ps;
	u64 sending_until_ps;		/* or was sending until then */
	u64 backoff_ps;			/* no attempt before */

	/* bus_cpu.c */
	struct etherport_bus bus;
	u64 bus_tx_busy_until_ps;
	u64 bus_rx_busy_until_ps;
	struct etherport_shared *cpu;	/* NULL: it takes no time */
	struct etherport_cpu_cost cpu_rx;
	struct etherport_cpu_cost cpu_tx;
	struct etherport_capture capture;

	/* forward.c */
	u64 forward_latency_ns;
	struct sk_buff_head forwarding;	/* until that is over */
	struct etherport_event forward_event;

	/* receive.c */
	struct sk_buff_head rx_ring;
	u32 rx_ring_size;
	struct sk_buff_head rx_fifo;	/* host: the packet buffer, in front of bus and ring */
	struct sk_buff_head rx_done;	/* the CPU is through with these */
	struct etherport_event bus_event;	/* a frame has come over the bus */
	struct etherport_event cpu_event;	/* the CPU is through with a batch */
	u32 cpu_batch;			/* frames of the RX ring that it is at */
	struct napi_struct napi;
	struct etherport_event rx_event;	/* the interrupt that is due */
	bool rx_masked;			/* the stack looks by itself, or somebody polls */
	struct etherport_vector vector;

	/* buffer.c */
	u64 buffer_bytes;		/* size of the packet buffer, of each class */
	u64 buffer_used_bytes;		/* all classes */
	u64 buffer_high_water_bytes;
	u64 buffer_cell_bytes;		/* a frame takes whole ones; 0, 1: bytes */
	struct etherport_shared *pool;	/* the memory that it is part of, or NULL */
	struct hlist_node pool_node;
	u64 xoff_alpha_128ths;		/* XOFF at this much of what is free there, too; 0: no */
	u64 xoff_bytes;
	u64 xon_bytes;

	/* fifo.c */
	u64 queue_limit_bytes;		/* 0: none */
	u64 queue_alpha_128ths;		/* a limit by what is free of the pool, too; 0: no */

	/* pause.c */
	u8 pfc;				/* lossless priorities; 0: PAUSE for all of them */
	enum etherport_trust trust;
	u8 pause_pending;		/* classes of which the peer is to hear */
	u64 pause_due_ps;		/* since when */
	u16 pause_quanta;		/* what an XOFF asks for */
	struct etherport_event pause_event;	/* refreshes an XOFF */
	u64 pause_reaction_ns;		/* until a received frame takes effect */
	struct sk_buff_head pause_heard;	/* received, without effect yet */
	struct etherport_event heard_event;	/* the first of them takes effect */
	void (*tx_kick)(struct etherport *port);	/* there may be something to send */
	struct etherport_record_of_port recorded;
};

#define ETHERPORT_NOT_READY	U64_MAX

/* What the driver keeps in skb->cb of a frame that is its own. */
struct etherport_cb {
	u64 ready_ps;		/* in the TX ring: through CPU and bus; or to be passed on */
	u64 arrival_ps;		/* on the cable; of a PAUSE frame: when it takes effect */
	bool of_the_mac;	/* a control frame that the port has made itself */
	bool damaged;		/* by a collision */
	bool bit_error;		/* on a cable, this one or one before a hub */
	u8 class;		/* in the packet buffer */
};

extern const struct net_device_ops etherport_netdev_ops;

static inline bool etherport_is(const struct net_device *dev)
{
	return dev->netdev_ops == &etherport_netdev_ops;
}

static inline struct etherport_cb *etherport_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct etherport_cb) > sizeof(skb->cb));
	return (struct etherport_cb *)skb->cb;
}

/* Length as a buffer holds it: padded to the minimum, without the FCS. */
static inline u32 etherport_frame_len(const struct sk_buff *skb)
{
	return max_t(u32, skb->len, ETH_ZLEN);
}

/* PAUSE, PFC: whatever is between two MACs and nobody else. */
static inline bool etherport_is_control(const struct sk_buff *skb)
{
	return eth_hdr(skb)->h_proto == htons(ETH_P_PAUSE);
}

static inline u64 etherport_bits_ps(const struct etherport *port, u32 bits)
{
	return (u64)bits * port->byte_ps / 8;
}

/* From the first bit of the preamble to the last one of the FCS. */
static inline u64 etherport_wire_ps(const struct etherport *port, const struct sk_buff *skb)
{
	return (u64)(ETHERPORT_PREAMBLE_LEN + etherport_frame_len(skb) + ETH_FCS_LEN) *
	       port->byte_ps;
}

/* Whether a frame is not ready to be sent as soon as it is there. */
static inline bool etherport_tx_takes_time(const struct etherport *port)
{
	return port->cpu || port->bus.bps;
}

static inline u64 etherport_now_ps(void)
{
	return ktime_get_ns() * 1000;
}

/* The files' functions, in the order of the Makefile: from the bottom up. */

/* event.c */
void etherport_event_init(struct etherport_event *event, void (*fn)(struct etherport_event *event));
bool etherport_event_pending(const struct etherport_event *event);
void etherport_event_at(struct etherport_event *event, u64 when_ps, u64 now_ps);
void etherport_event_cancel(struct etherport_event *event);

/* negotiate.c */
void etherport_supported(unsigned long *modes);
bool etherport_mode_known(u32 speed_mbps, bool half);
bool etherport_agree(const struct etherport *a, const struct etherport *a_leader,
		     const struct etherport *b, const struct etherport *b_leader,
		     struct etherport_link *a_link, struct etherport_link *b_link);

/* priority.c */
int etherport_class_of(const struct etherport *port, const struct sk_buff *skb);
u16 etherport_select_queue(struct net_device *dev, struct sk_buff *skb,
			   struct net_device *sb_dev);

/* cable.c */
extern const struct ethtool_rmon_hist_range etherport_size_ranges[];
void etherport_count_size(u64 *sizes, const struct sk_buff *skb);
void etherport_cable_init(struct etherport *port,
			  void (*receive)(struct etherport *port, struct sk_buff *skb));
void etherport_cable_send(struct etherport *port, struct sk_buff *skb, u64 sent_ps, u64 now_ps);
void etherport_cable_cut(struct etherport *port);

/* bit_error.c */
void etherport_bit_errors_set(struct etherport_bit_errors *errors, u64 mean_bits);
bool etherport_bit_errors_hit(struct etherport_bit_errors *errors, const struct sk_buff *skb);

/* pause.c */
void etherport_pause_init(struct etherport *port, void (*tx_kick)(struct etherport *port));
void etherport_pause_stop(struct etherport *port);
void etherport_pause_over(struct etherport *port);
void etherport_pause_watch(struct etherport *port, int class);
void etherport_pause_watch_all(struct etherport *port);
void etherport_pause_sent(struct etherport *port, const struct sk_buff *skb, bool injected);
void etherport_pause_received(struct etherport *port, struct sk_buff *skb);
bool etherport_paused(const struct etherport *port, int class, u64 now_ps);
u64 etherport_paused_ns(struct etherport *port, int class);
struct sk_buff *etherport_pause_next(struct etherport *port, u64 *start_ps);

/* complete.c */
u32 etherport_tx_left(const struct etherport *port);
void etherport_tx_moderate(struct etherport *port, u64 now_ps);
void etherport_tx_complete(struct etherport *port, struct sk_buff *skb, u64 now_ps);
void etherport_tx_reclaim(struct etherport *port);
void etherport_complete_init(struct etherport *port,
			     void (*interrupt)(struct etherport_event *event));

/* transmit.c */
void etherport_tx_init(struct etherport *port);
void etherport_tx_start(struct etherport *port);
void etherport_tx_flush(struct etherport *port);
void etherport_tx_stop(struct etherport *port);
void etherport_tx_kick(struct etherport *port);
void etherport_tx_resume(struct etherport *port);
void etherport_tx_wake(struct etherport *port);
u32 etherport_tx_waiting(const struct etherport *port);
netdev_tx_t etherport_xmit(struct sk_buff *skb, struct net_device *dev);

/* forward.c */
bool etherport_strip(struct etherport *port, struct sk_buff *skb);
void etherport_count_received(struct etherport *port, u32 len);
void etherport_forward(struct etherport *port, struct sk_buff *skb);
void etherport_forward_init(struct etherport *port);
void etherport_forward_stop(struct etherport *port);

/* receive.c */
void etherport_rx_init(struct etherport *port);
void etherport_rx_start(struct etherport *port);
void etherport_rx_stop(struct etherport *port);
void etherport_rx_moderate(struct etherport *port);
void etherport_moderate_anew(struct etherport *port);
void etherport_receive(struct etherport *port, struct sk_buff *skb);

/* link.c */
void etherport_link_init(struct etherport *port);
void etherport_plug(struct etherport *port, struct etherport *peer);
void etherport_unplug(struct etherport *port);
void etherport_unlink(struct etherport *port);
void etherport_resolve(struct etherport *port);

/* stats.c */
void etherport_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats);
void etherport_get_eth_mac_stats(struct net_device *dev, struct ethtool_eth_mac_stats *stats);
void etherport_get_eth_ctrl_stats(struct net_device *dev, struct ethtool_eth_ctrl_stats *stats);
void etherport_get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats);
void etherport_get_rmon_stats(struct net_device *dev, struct ethtool_rmon_stats *stats,
			      const struct ethtool_rmon_hist_range **ranges);
int etherport_get_sset_count(struct net_device *dev, int stringset);
void etherport_get_strings(struct net_device *dev, u32 stringset, u8 *data);
void etherport_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data);

/* ethtool.c, dcb.c, sysfs.c */
extern const struct ethtool_ops etherport_ethtool_ops;
extern const struct dcbnl_rtnl_ops etherport_dcbnl_ops;
extern const struct attribute_group etherport_sysfs_group;

#endif /* _ETHERPORT_H */
