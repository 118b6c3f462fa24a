/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of moments begins with, as src/wirelab/results/moments.py reads it:
 * which of its blocks have what, in which order.
 */
#ifndef _ETHERPORT_MOMENTS_H
#define _ETHERPORT_MOMENTS_H

#include <linux/types.h>

#include "record.h"

#define ETHERPORT_MOMENTS_MAGIC		"wirelab moment 1"
#define ETHERPORT_MOMENTS_BLOCK_LEN	(128 * 1024)
#define ETHERPORT_MOMENTS_BLOCKS_MAX	4096

/* From one slice of time to another, both with it; 0: there is none. */
struct etherport_moment {
	u32 from_slice;
	u32 until_slice;
};

struct etherport_moments_block {
	u32 slice;		/* 0: nothing was written there */
	u32 used;		/* bytes of entries */
	u32 order;		/* from 1 on, as they were written */
};

struct etherport_moments {
	u8 magic[16];
	u64 end_ps;		/* there was no room for more from then on; 0: always */
	u32 kind;		/* what the moments are about, of enum etherport_record_kind */
	u32 block_count;	/* behind this one */
	struct etherport_moment first;
	struct etherport_moment most;
	u32 written;
	u32 unused;
	struct etherport_moments_block blocks[ETHERPORT_MOMENTS_BLOCKS_MAX];
};

/* moments.c */
int etherport_moments_setup(u64 around_ps, u64 limit_bytes);
u32 etherport_moments_slice(u64 now_ps);
u64 etherport_moments_slice_end_ps(void);
int etherport_moments_free_block(void);
void etherport_moments_wrote(int block, u32 slice, u32 used);
void etherport_moments_see(u8 kind, u64 now_ps);
const struct etherport_moments *etherport_moments_table(u64 end_ps);

#endif /* _ETHERPORT_MOMENTS_H */
