// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the recorder cannot see from within a port: what its egress queue takes and
 * drops, and the ends of TCP connections (patch 0015).
 */
#include <linux/net_recorder.h>
#include <linux/tcp.h>
#include <net/dropreason.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>
#include <net/tcp.h>
#ifdef HAVE_NET_DROPREASON_QDISC_H
#include <net/dropreason-qdisc.h>
#endif

#include "etherport.h"

static u32 etherport_probe_queueing(const struct netdev_queue *txq, struct sk_buff *skb)
{
	/* What is still to be segmented has no number yet. */
	if (!etherport_records() || !etherport_is(txq->dev) || skb_is_gso(skb))
		return 0;
	return etherport_record_number(skb);
}

static void etherport_probe_queued(struct Qdisc *qdisc, const struct netdev_queue *txq, u32 frame)
{
	struct etherport_record_fill fill;

	if (!etherport_records() || !etherport_is(txq->dev))
		return;
	fill = (struct etherport_record_fill) {
		.bytes = etherport_queue_bytes(qdisc),
		.frames = qdisc_qlen(qdisc),
	};
	etherport_record_of(netdev_priv(txq->dev), frame, ETHERPORT_RECORD_QUEUED, 0, &fill,
			    sizeof(fill));
}

static bool etherport_is_of_a_queue(unsigned int reason)
{
#ifdef HAVE_NET_DROPREASON_QDISC_H
	/* A queue that drops what it was to send says so itself; older ones say nothing then. */
	if ((reason & SKB_DROP_REASON_SUBSYS_MASK) == __QDISC_DROP_REASON)
		return true;
#endif
	return reason == SKB_DROP_REASON_QDISC_DROP || reason == SKB_DROP_REASON_TC_EGRESS;
}

static void etherport_probe_dropped(struct sk_buff *skb, unsigned int reason)
{
	struct etherport_record_dropped dropped = { .cause = ETHERPORT_DROPPED_QUEUE + reason };
	struct etherport *port;
	struct Qdisc *qdisc;

	if (!etherport_records() || !etherport_is_of_a_queue(reason) || !skb->dev ||
	    !etherport_is(skb->dev))
		return;
	port = netdev_priv(skb->dev);
	/* A filter at egress comes first: the frame has no queue yet, or one of another device. */
	if (reason != SKB_DROP_REASON_TC_EGRESS) {
		rcu_read_lock();
		qdisc = rcu_dereference(skb_get_tx_queue(port->dev, skb)->qdisc);
		dropped.fill_bytes = etherport_queue_bytes(qdisc);
		dropped.limit_bytes = etherport_queue_limit_bytes(qdisc);
		rcu_read_unlock();
	}
	etherport_record_write(port, skb, ETHERPORT_RECORD_DROPPED, 0, &dropped, sizeof(dropped));
}

static void etherport_address(u8 *to, const struct sock *sk, bool remote)
{
	struct in6_addr address;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		address = remote ? sk->sk_v6_daddr : inet6_sk(sk)->saddr;
	else
#endif
		ipv6_addr_set_v4mapped(remote ? inet_sk(sk)->inet_daddr : inet_sk(sk)->inet_saddr,
				       &address);
	memcpy(to, &address, sizeof(address));
}

/* What is between ``again`` and ``again_end`` has just been sent once more. */
static void etherport_record_tcp(struct etherport *port, const struct sock *sk, u32 again,
				 u32 again_end)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct etherport_record_tcp tcp = {
		.local_port = ntohs(inet_sk(sk)->inet_sport),
		.remote_port = ntohs(inet_sk(sk)->inet_dport),
		.mss_bytes = tp->mss_cache,
		.una = tp->snd_una,
		.next = tp->snd_nxt,
		.received = tp->rcv_nxt,
		.send_window_bytes = tp->snd_wnd,
		.receive_window_bytes = tp->rcv_wnd,
		.cwnd_frames = tcp_snd_cwnd(tp),
		.ssthresh_frames = tp->snd_ssthresh,
		.in_flight_frames = tcp_packets_in_flight(tp),
		.retransmitted_frames = tp->retrans_out,
		.lost_frames = tp->lost_out,
		.retransmissions = tp->total_retrans,
		.srtt_us = tp->srtt_us,
		.rto_us = jiffies_to_usecs(icsk->icsk_rto),
		.state = icsk->icsk_ca_state,
		.again = again,
		.again_end = again_end,
	};

	etherport_address(tcp.local, sk, false);
	etherport_address(tcp.remote, sk, true);
	etherport_record_write(port, NULL, ETHERPORT_RECORD_TCP, 0, &tcp, sizeof(tcp));
}

static bool etherport_probe_wants_tcp(void)
{
	return etherport_records() && (etherport_record_kinds & BIT(ETHERPORT_RECORD_TCP));
}

/* The state of a connection's end, if it is one of TCP. */
void etherport_record_connection(struct etherport *port, const struct sock *sk)
{
	if (etherport_probe_wants_tcp() && sk && sk_fullsock(sk) && sk_is_tcp(sk))
		etherport_record_tcp(port, sk, 0, 0);
}

static void etherport_probe_received(struct sock *sk)
{
	if (etherport_probe_wants_tcp() && sk->sk_state != TCP_LISTEN)
		etherport_record_tcp(NULL, sk, 0, 0);
}

static void etherport_probe_retransmitted(struct sock *sk, u32 seq, u32 end_seq)
{
	if (etherport_probe_wants_tcp())
		etherport_record_tcp(NULL, sk, seq, end_seq);
}

static const struct net_recorder etherport_probes = {
	.queueing	= etherport_probe_queueing,
	.queued		= etherport_probe_queued,
	.dropped	= etherport_probe_dropped,
	.received	= etherport_probe_received,
	.retransmitted	= etherport_probe_retransmitted,
};

void __init etherport_probe_setup(void)
{
	if (etherport_record_look_ns != U64_MAX)
		net_recorder = &etherport_probes;
}
