/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's file, as src/wirelab/results/record.py reads it: little endian,
 * a header, then records of whole words, in the order in which they were made.
 */
#ifndef _ETHERPORT_RECORD_H
#define _ETHERPORT_RECORD_H

#include <linux/if.h>
#include <linux/skbuff.h>
#include <linux/time-internal.h>
#include <linux/types.h>

struct etherport;
struct sock;

#define ETHERPORT_RECORD_MAGIC	"wirelab record 2"
#define ETHERPORT_RECORD_HEADERS_LEN	96	/* Ethernet, a tag, IP, TCP with its options */

enum etherport_record_kind {
	ETHERPORT_RECORD_PORT = 1,	/* a port's name, before its first record */
	ETHERPORT_RECORD_FRAME,		/* a frame's headers, before its first record, and when they changed */
	ETHERPORT_RECORD_QUEUED,	/* in the egress queue */
	ETHERPORT_RECORD_TX_RING,	/* in the TX ring */
	ETHERPORT_RECORD_SENT,		/* its last bit has left */
	ETHERPORT_RECORD_ARRIVED,	/* its last bit is at the other end */
	ETHERPORT_RECORD_STORED,	/* in the packet buffer */
	ETHERPORT_RECORD_GIVEN,		/* room in the packet buffer came free */
	ETHERPORT_RECORD_RX_RING,	/* in the RX ring */
	ETHERPORT_RECORD_HANDED,	/* to the stack, or to the other ports of its node */
	ETHERPORT_RECORD_DROPPED,
	ETHERPORT_RECORD_PAUSED,	/* the port is to be silent until then, or no longer */
	ETHERPORT_RECORD_TCP,		/* the state of a connection's end */
	ETHERPORT_RECORD_END,		/* of the file: it, or its disk, is full */
	ETHERPORT_RECORD_SAME,		/* as what was told of by another number, in a file of moments */
};

/* Why a frame was dropped, but for those with a counter of struct etherport_counters. */
#define ETHERPORT_DROPPED_QUEUE	0x10000	/* by the egress queue; below it the kernel's reason */

struct etherport_record {
	u64 at_ps;
	u32 frame;		/* its number, from 1 on; 0: of none */
	u16 port;
	u8 kind;
	u8 words;		/* of 8 bytes, that follow */
};

struct etherport_record_port {
	char name[IFNAMSIZ];
};

/* What the recorder has told of a port. */
struct etherport_record_of_port {
	u16 number;		/* 0: none yet */
	u32 part;		/* of the file, the last one that has its name */
};

struct etherport_record_frame {
	u32 len;		/* as a buffer holds it */
	u32 kept;		/* bytes that follow, filled up to a word */
	u8 headers[ETHERPORT_RECORD_HEADERS_LEN];
};

struct etherport_record_same {
	u32 number;
	u32 unused;
};

/* What of a queue, ring or buffer is in use: with a frame that came, without one that left. */
struct etherport_record_fill {
	u32 bytes;
	u32 frames;
};

struct etherport_record_sent {
	u64 start_ps;		/* its first bit, when it left the TX ring */
	u16 control;		/* PAUSE, PFC */
	u16 damaged;		/* by a collision */
	u32 ring_frames;	/* that are still in the TX rings */
};

struct etherport_record_dropped {
	u32 cause;		/* which counter, or ETHERPORT_DROPPED_QUEUE */
	u32 fill_bytes;		/* of what had no room */
	u64 limit_bytes;	/* of the same; 0: that was not the reason */
};

/* The pause expires then, unless this class of the port is told of another before. */
struct etherport_record_paused {
	u64 until_ps;
	u32 class;
	u32 quanta;
};

struct etherport_record_tcp {
	u8 local[16];		/* addresses; those of IPv4 mapped to IPv6 */
	u8 remote[16];
	u16 local_port;
	u16 remote_port;
	u32 mss_bytes;
	u32 una;		/* not acknowledged from there on; this and the next, RFC 9293 3.3.1 */
	u32 next;
	u32 received;
	u32 send_window_bytes;
	u32 receive_window_bytes;
	u32 cwnd_frames;
	u32 ssthresh_frames;
	u32 in_flight_frames;
	u32 retransmitted_frames;	/* of those */
	u32 lost_frames;
	u32 retransmissions;	/* since it began */
	u32 srtt_us;		/* eight times that, as the kernel has it */
	u32 rto_us;
	u32 state;		/* of congestion control: TCP_CA_Open and so on */
	u32 again;		/* what has just been sent again, and where that ends; */
	u32 again_end;		/* both 0: nothing was */
};

/*
 * Nothing is to be recorded before, by the clock of time travel, which costs little
 * to read; U64_MAX: never.
 */
extern u64 etherport_record_look_ns;

/* A bit for each kind that is recorded. */
extern u32 etherport_record_kinds;

/* All that a lab without a recorder asks of it, and one with it outside of its windows. */
static inline bool etherport_records(void)
{
	return unlikely(etherport_record_look_ns != U64_MAX) &&
	       time_travel_now() >= etherport_record_look_ns;
}

/* record.c, probe.c */
void etherport_probe_setup(void);
int etherport_record_setup(void);
u32 etherport_line_len(const struct sk_buff *skb);
u32 etherport_line_headers(const struct sk_buff *skb, u8 *headers, u32 most);
u32 etherport_record_number(struct sk_buff *skb);
void etherport_record_of(struct etherport *port, u32 number, u8 kind, u64 at_ps, const void *data,
			 u32 len);
void etherport_record_write(struct etherport *port, struct sk_buff *skb, u8 kind, u64 at_ps,
			    const void *data, u32 len);
void etherport_record_frame_is(struct etherport *port, struct sk_buff *skb, u8 kind);
void etherport_record_fill_of(struct etherport *port, struct sk_buff *skb, u8 kind, u64 bytes,
			      u32 frames);
void etherport_record_sent(struct etherport *port, struct sk_buff *skb, u64 end_ps,
			   u32 ring_frames);
void etherport_record_paused(struct etherport *port, int class, u16 quanta, u64 until_ps);
void etherport_record_drop(struct etherport *port, struct sk_buff *skb, const u64 *counter,
			   u64 fill_bytes, u64 limit_bytes);
void etherport_record_connection(struct etherport *port, const struct sock *sk);
void etherport_lose(struct etherport *port, struct sk_buff *skb, u64 *counter);
void etherport_lose_all(struct etherport *port, struct sk_buff_head *queue, u64 *counter);

#endif /* _ETHERPORT_RECORD_H */
