/* SPDX-License-Identifier: GPL-2.0-only */
/* The recorder's file: recorder.c. */
#ifndef _ETHERPORT_RECORDER_H
#define _ETHERPORT_RECORDER_H

#include <linux/kernel.h>
#include <linux/types.h>

#include "record.h"

/* The most that is told at once: of a port, of a frame, what that was before, what happened, the end. */
#define ETHERPORT_RECORDER_ROOM	(5 * sizeof(struct etherport_record) + \
				 sizeof(struct etherport_record_port) + \
				 sizeof(struct etherport_record_frame) + \
				 sizeof(struct etherport_record_same) + \
				 sizeof(struct etherport_record_tcp))

/*
 * Where entries go. A hundred million are made in a run: what is looked at for each
 * of them is here and nowhere else.
 */
struct etherport_recorder_page {
	u64 *next;
	u64 *last;		/* beyond it, what is told at once may have no room */
	u64 until_ns;		/* when the window or the part ends, by the clock of time travel */
	u64 ahead_ns;		/* that clock, of the one that tells windows */
	/*
	 * The part of the file that is being written, from 1 on. What is said of ports and
	 * frames in one is not there for who reads another: it may not be kept.
	 */
	u32 part;
};

extern struct etherport_recorder_page etherport_recorder_page;

static inline u32 etherport_recorder_part(void)
{
	return etherport_recorder_page.part;
}

/* ``data`` is made of u64, or there are as many bytes behind it as fill up the last one. */
static __always_inline void etherport_recorder_put(struct etherport_record head, const void *data,
						   u32 len)
{
	const u64 *from = data;
	u64 *to = etherport_recorder_page.next;
	u32 i;

	head.words = DIV_ROUND_UP(len, 8);
	*(struct etherport_record *)to = head;
	to += sizeof(head) / sizeof(*to);
	/* Few words: a call of memcpy() takes longer than they do. */
	for (i = 0; i < head.words; i++)
		to[i] = from[i];
	etherport_recorder_page.next = to + head.words;
}

/* recorder.c */
bool etherport_recorder_turn(u64 now_ns);
void etherport_recorder_see(u8 kind, u64 now_ps);
bool etherport_recorder_shows_packets(void);
void etherport_recorder_sync(void);
int etherport_recorder_setup(void);

#endif /* _ETHERPORT_RECORDER_H */
