// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of each frame, and when: the entries of the recorder's file.
 *
 * A frame gets its number when it is first recorded. It is kept where a security
 * module would mark the frame, and so goes with it from port to port, into every
 * segment and copy of it. On its way it may get a tag, another address or a mark of
 * congestion: whoever is to see packets is told of its headers again then.
 */
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "etherport.h"
#include "prompt.h"
#include "recorder.h"

/* So many frames are remembered as they were told of last; with as many under way one may be told twice. */
#define ETHERPORT_RECORD_TOLD	65536

struct etherport_record_told {
	u32 number;
	u32 hash;
};

static struct {
	u32 frames;		/* the last number that was given */
	u32 first;		/* that was given in ``part`` of the file */
	u32 part;
	u16 ports;
	struct etherport_record_told *told;	/* NULL: nobody asks what headers became */
} recorded;

int __init etherport_record_setup(void)
{
	if (!etherport_recorder_shows_packets())
		return 0;
	recorded.told = vcalloc(ETHERPORT_RECORD_TOLD, sizeof(*recorded.told));
	return recorded.told ? 0 : -ENOMEM;
}

/*
 * Whether a window is open, and ETHERPORT_RECORDER_ROOM is there: for who has asked
 * etherport_records(). The kernel's clock costs more to read, and a process virtual
 * time.
 */
static inline bool etherport_recorder_open(u64 *now_ps)
{
	const struct etherport_recorder_page *page = &etherport_recorder_page;
	const u64 now_ns = time_travel_now();

	if (unlikely(now_ns >= page->until_ns || page->next > page->last) &&
	    !etherport_recorder_turn(now_ns))
		return false;
	*now_ps = (now_ns - page->ahead_ns) * 1000;
	return true;
}

static void etherport_record_port(struct etherport *port, u64 now_ps)
{
	struct etherport_record_port named = {};

	if (!port->recorded.number)
		port->recorded.number = ++recorded.ports;
	port->recorded.part = etherport_recorder_part();
	strscpy(named.name, port->dev->name, sizeof(named.name));
	etherport_recorder_put((struct etherport_record){
		.at_ps = now_ps,
		.port = port->recorded.number,
		.kind = ETHERPORT_RECORD_PORT,
	}, &named, sizeof(named));
}

/* Whether a number was given in the part of the file that is being written: from there on all were. */
static bool etherport_record_knows(u32 number)
{
	if (recorded.part != etherport_recorder_part()) {
		recorded.part = etherport_recorder_part();
		recorded.first = recorded.frames + 1;
	}
	return number >= recorded.first;
}

static u32 etherport_tag_len(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
}

/* A frame as it is on a line: a tag that is beside it will be in it. */
u32 etherport_line_len(const struct sk_buff *skb)
{
	return max_t(u32, skb->len + etherport_tag_len(skb), ETH_ZLEN);
}

/* What it begins with there: so many bytes of it, and at most ``most``, which is more than a header. */
u32 etherport_line_headers(const struct sk_buff *skb, u8 *headers, u32 most)
{
	const u32 tag_len = etherport_tag_len(skb);
	const u32 before_len = tag_len ? 2 * ETH_ALEN : 0;
	const __be16 tag[] = { skb->vlan_proto, htons(skb_vlan_tag_get(skb)) };
	const u32 len = min(skb->len + tag_len, most);

	skb_copy_bits(skb, 0, headers, before_len);
	memcpy(headers + before_len, tag, tag_len);
	skb_copy_bits(skb, before_len, headers + before_len + tag_len, len - before_len - tag_len);
	return len;
}

static void etherport_record_look(const struct sk_buff *skb, struct etherport_record_frame *frame)
{
	frame->len = etherport_line_len(skb);
	frame->kept = etherport_line_headers(skb, frame->headers, ETHERPORT_RECORD_HEADERS_LEN);
	/* Up to the next word. */
	if (frame->kept < ETHERPORT_RECORD_HEADERS_LEN)
		memset(frame->headers + frame->kept, 0, -frame->kept & 7);
}

/* Whether a frame looks otherwise than when it was told of last, or that is not known. Now it is told of. */
static bool etherport_record_is_new(u32 number, const struct etherport_record_frame *frame)
{
	struct etherport_record_told *told = &recorded.told[number % ETHERPORT_RECORD_TOLD];
	const u32 hash = jhash(frame->headers, frame->kept, frame->len);
	const bool is_new = told->number != number || told->hash != hash;

	*told = (struct etherport_record_told){ .number = number, .hash = hash };
	return is_new;
}

static void etherport_record_tell(u32 number, const struct etherport_record_frame *frame, u64 now_ps)
{
	etherport_recorder_put((struct etherport_record){
		.at_ps = now_ps,
		.frame = number,
		.kind = ETHERPORT_RECORD_FRAME,
	}, frame, offsetof(struct etherport_record_frame, headers) + frame->kept);
}

/* A frame with its Ethernet header gets a number. */
static void etherport_record_frame(struct sk_buff *skb, u64 now_ps)
{
	const struct etherport_record_same same = { .number = skb->secmark };
	struct etherport_record_frame frame;

	etherport_record_look(skb, &frame);
	skb->secmark = ++recorded.frames;
	if (recorded.told)
		etherport_record_is_new(skb->secmark, &frame);
	if (same.number)
		etherport_recorder_put((struct etherport_record){
			.at_ps = now_ps,
			.frame = skb->secmark,
			.kind = ETHERPORT_RECORD_SAME,
		}, &same, sizeof(same));
	etherport_record_tell(skb->secmark, &frame, now_ps);
}

/* A frame is about to leave a node, in which it may have become another. */
static void etherport_record_again(struct sk_buff *skb, u64 now_ps)
{
	struct etherport_record_frame frame;

	if (!recorded.told)
		return;
	etherport_record_look(skb, &frame);
	if (etherport_record_is_new(skb->secmark, &frame))
		etherport_record_tell(skb->secmark, &frame, now_ps);
}

static bool etherport_record_is_of_moments(u8 kind, const void *data)
{
	const struct etherport_record_paused *paused = data;

	return kind == ETHERPORT_RECORD_DROPPED ||
	       (kind == ETHERPORT_RECORD_PAUSED && paused->quanta);
}

/* The length of what is told is known to the compiler where this is called: it stores words. */
static __always_inline void etherport_record_event(struct etherport *port, u32 number, u8 kind,
						   u64 at_ps, u64 now_ps, const void *data,
						   u32 len)
{
	if (port && port->recorded.part != etherport_recorder_part())
		etherport_record_port(port, now_ps);
	etherport_recorder_put((struct etherport_record){
		.at_ps = at_ps ? : now_ps,
		.frame = number,
		.port = port ? port->recorded.number : 0,
		.kind = kind,
	}, data, len);
	if (etherport_record_is_of_moments(kind, data))
		etherport_recorder_see(kind, now_ps);
	if (etherport_prompt_watches())
		etherport_prompt_see(port, kind, data);
}

/*
 * The number of a frame, which it gets with its first record; 0 where none is kept.
 * Whoever asks has the frame with its Ethernet header.
 */
u32 etherport_record_number(struct sk_buff *skb)
{
	u64 now_ps;

	if (!etherport_recorder_open(&now_ps))
		return skb->secmark;
	if (etherport_record_knows(skb->secmark))
		etherport_record_again(skb, now_ps);
	else
		etherport_record_frame(skb, now_ps);
	return skb->secmark;
}

/*
 * Something happened at ``at_ps``, which is not later than now, to a frame of that
 * number; 0 is now, and none. ``data`` is made of u64.
 */
void etherport_record_of(struct etherport *port, u32 number, u8 kind, u64 at_ps, const void *data,
			 u32 len)
{
	u64 now_ps;

	if (etherport_recorder_open(&now_ps))
		etherport_record_event(port, number, kind, at_ps, now_ps, data, len);
}

/* The same of a frame that is there, or of none. */
static __always_inline void etherport_record(struct etherport *port, struct sk_buff *skb, u8 kind,
					     u64 at_ps, const void *data, u32 len)
{
	u64 now_ps;

	if (!(etherport_record_kinds & BIT(kind)) || !etherport_recorder_open(&now_ps))
		return;
	if (skb && !etherport_record_knows(skb->secmark))
		etherport_record_frame(skb, now_ps);
	else if (skb && kind == ETHERPORT_RECORD_TX_RING)
		etherport_record_again(skb, now_ps);
	etherport_record_event(port, skb ? skb->secmark : 0, kind, at_ps, now_ps, data, len);
}

void etherport_record_write(struct etherport *port, struct sk_buff *skb, u8 kind, u64 at_ps,
			    const void *data, u32 len)
{
	etherport_record(port, skb, kind, at_ps, data, len);
}

/* Nothing more is to be said of it than that it was so. */
void etherport_record_frame_is(struct etherport *port, struct sk_buff *skb, u8 kind)
{
	etherport_record(port, skb, kind, 0, NULL, 0);
}

/* What a queue, ring or buffer holds once the frame is in it, or has left it. */
void etherport_record_fill_of(struct etherport *port, struct sk_buff *skb, u8 kind, u64 bytes,
			      u32 frames)
{
	const struct etherport_record_fill fill = { .bytes = bytes, .frames = frames };

	etherport_record(port, skb, kind, 0, &fill, sizeof(fill));
}

/* Its last bit leaves at ``end_ps``. */
void etherport_record_sent(struct etherport *port, struct sk_buff *skb, u64 end_ps, u32 ring_frames)
{
	const struct etherport_record_sent sent = {
		.start_ps = end_ps - etherport_wire_ps(port, skb),
		.control = etherport_is_control(skb),
		.damaged = port->tx_damaged,
		.ring_frames = ring_frames,
	};

	etherport_record(port, skb, ETHERPORT_RECORD_SENT, end_ps, &sent, sizeof(sent));
}

/* It is to be silent until then; with no quanta it is so no longer. */
void etherport_record_paused(struct etherport *port, int class, u16 quanta, u64 until_ps)
{
	const struct etherport_record_paused paused = {
		.until_ps = until_ps,
		.class = class,
		.quanta = quanta,
	};

	etherport_record(port, NULL, ETHERPORT_RECORD_PAUSED, 0, &paused, sizeof(paused));
}

/* ``counter`` is one of the port's, and says why the frame is lost. */
void etherport_record_drop(struct etherport *port, struct sk_buff *skb, const u64 *counter,
			   u64 fill_bytes, u64 limit_bytes)
{
	const struct etherport_record_dropped dropped = {
		.cause = counter - (const u64 *)&port->count,
		.fill_bytes = fill_bytes,
		.limit_bytes = limit_bytes,
	};

	etherport_record(port, skb, ETHERPORT_RECORD_DROPPED, 0, &dropped, sizeof(dropped));
}

/* A frame is lost, for the reason that ``counter`` of its port counts. */
void etherport_lose(struct etherport *port, struct sk_buff *skb, u64 *counter)
{
	(*counter)++;
	if (etherport_records())
		etherport_record_drop(port, skb, counter, 0, 0);
	kfree_skb(skb);
}

/* Each of a queue. */
void etherport_lose_all(struct etherport *port, struct sk_buff_head *queue, u64 *counter)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		etherport_lose(port, skb, counter);
}
