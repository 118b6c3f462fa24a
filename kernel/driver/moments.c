// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which moments of a run are worth keeping: those around the first frame that is
 * dropped and around where most are; until one is, the same of pauses.
 *
 * Time is cut into slices, and the recorder's file into blocks, each of which has
 * entries of one slice. What turns out to be worth it is marked, never copied:
 * whatever block is of no marked slice, nor of the newest ones, is written again.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "moments.h"

#define ETHERPORT_MOMENT_EVENTS_MAX	8192

static struct {
	u64 around_ps;
	u64 slice_ps;
	u64 slice_end_ps;
	u32 slice;		/* that it is now */
	u64 *event_ps;		/* when the last ones happened, in a ring */
	u32 first_event;
	u32 events;		/* that are within twice ``around_ps`` of each other */
	u32 most_events;
	struct etherport_moments *file;
} moments;

int __init etherport_moments_setup(u64 around_ps, u64 limit_bytes)
{
	u64 blocks = div_u64(limit_bytes, ETHERPORT_MOMENTS_BLOCK_LEN);

	BUILD_BUG_ON(sizeof(*moments.file) > ETHERPORT_MOMENTS_BLOCK_LEN);
	if (blocks < 2)
		return -EINVAL;
	moments.around_ps = around_ps;
	/* So that there are always two that are over: what led to a moment is in them. */
	moments.slice_ps = 2 * around_ps;
	moments.event_ps = vmalloc(array_size(ETHERPORT_MOMENT_EVENTS_MAX, sizeof(u64)));
	moments.file = vzalloc(sizeof(*moments.file));
	if (!moments.event_ps || !moments.file)
		return -ENOMEM;
	memcpy(moments.file->magic, ETHERPORT_MOMENTS_MAGIC, sizeof(moments.file->magic));
	/* The first block of the file is this table. */
	moments.file->block_count = min_t(u64, blocks - 1, ETHERPORT_MOMENTS_BLOCKS_MAX);
	return 0;
}

/* The slice that it is, from 1 on. */
u32 etherport_moments_slice(u64 now_ps)
{
	if (now_ps >= moments.slice_end_ps) {
		moments.slice = div64_u64(now_ps, moments.slice_ps) + 1;
		moments.slice_end_ps = moments.slice * moments.slice_ps;
	}
	return moments.slice;
}

/* When that one ends. */
u64 etherport_moments_slice_end_ps(void)
{
	return moments.slice_end_ps;
}

static bool etherport_moment_has(const struct etherport_moment *moment, u32 slice)
{
	return slice >= moment->from_slice && slice <= moment->until_slice;
}

static bool etherport_moments_want(u32 slice)
{
	return slice && (slice + 2 >= moments.slice ||
			 etherport_moment_has(&moments.file->first, slice) ||
			 etherport_moment_has(&moments.file->most, slice));
}

/*
 * A block that may be written, the first one that is free: so the same few are in
 * use, and in the host's caches. Negative: all that there are have what is worth
 * keeping.
 */
int etherport_moments_free_block(void)
{
	struct etherport_moments *file = moments.file;
	u32 number;

	for (number = 0; number < file->block_count; number++) {
		if (etherport_moments_want(file->blocks[number].slice))
			continue;
		/* Nothing of it is whole any more, should the disk be full. */
		file->blocks[number].slice = 0;
		return number + 1;
	}
	return -ENOSPC;
}

/* A block has ``used`` bytes of a slice: of the newest, or the one before it that has just ended. */
void etherport_moments_wrote(int block, u32 slice, u32 used)
{
	struct etherport_moments *file = moments.file;

	file->blocks[block - 1] = (struct etherport_moments_block) {
		.slice = slice,
		.used = used,
		.order = ++file->written,
	};
}

/* How many happened within twice the time around a moment, with one more that does now. */
static u32 etherport_moments_count(u64 now_ps)
{
	const u32 mask = ETHERPORT_MOMENT_EVENTS_MAX - 1;

	while (moments.events &&
	       (moments.events == ETHERPORT_MOMENT_EVENTS_MAX ||
		moments.event_ps[moments.first_event & mask] + 2 * moments.around_ps < now_ps)) {
		moments.first_event++;
		moments.events--;
	}
	moments.event_ps[(moments.first_event + moments.events) & mask] = now_ps;
	return ++moments.events;
}

/* One of what moments are about happens. Drops are worth more than pauses. */
void etherport_moments_see(u8 kind, u64 now_ps)
{
	struct etherport_moments *file = moments.file;

	if (file->kind == ETHERPORT_RECORD_DROPPED && kind != file->kind)
		return;
	if (kind != file->kind) {
		file->kind = kind;
		file->most = (struct etherport_moment) {};
		file->first = (struct etherport_moment) {
			.from_slice = max(moments.slice, 2U) - 1,
			.until_slice = moments.slice + 1,
		};
		moments.events = 0;
		moments.most_events = 0;
	}
	if (etherport_moments_count(now_ps) <= moments.most_events)
		return;
	moments.most_events = moments.events;
	file->most = (struct etherport_moment) {
		.from_slice = max(moments.slice, 3U) - 2,
		.until_slice = moments.slice + 1,
	};
}

/* What the file begins with; ``end_ps`` is when the recorder ended before the lab, 0 if it did not. */
const struct etherport_moments *etherport_moments_table(u64 end_ps)
{
	moments.file->end_ps = end_ps;
	return moments.file;
}
