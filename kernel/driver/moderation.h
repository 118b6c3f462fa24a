/* SPDX-License-Identifier: GPL-2.0-only */
/* When a card wakes its host: moderation.c, and what adapts it: adapt.c. */
#ifndef _ETHERPORT_MODERATION_H
#define _ETHERPORT_MODERATION_H

#include <linux/dim.h>
#include <linux/types.h>

/* What rx-usecs counts from. */
enum etherport_moderation {
	ETHERPORT_FIRST,	/* the first frame that waits */
	ETHERPORT_LAST,		/* the last one: each begins anew (cqe-mode-rx) */
	ETHERPORT_INTERVAL,	/* the last interrupt */
};

enum etherport_adaptive {
	ETHERPORT_FIXED,	/* the card's driver adapts nothing */
	ETHERPORT_IXGBE,
	ETHERPORT_IGB,
	ETHERPORT_E1000,
	ETHERPORT_DIM,
};

/* What an interrupt found, in one direction. */
struct etherport_load {
	u32 frames;
	u32 bytes;
	u32 state;		/* the algorithm's own */

	/* For DIM, all there were. */
	u16 all_events;
	u64 all_frames;
	u64 all_bytes;
	struct dim dim;
};

/* An interrupt, and who may raise it when. */
struct etherport_vector {
	u32 usecs;
	u32 max_frames;
	u32 tx_usecs;		/* for frames that have left, where no interval counts */
	u32 tx_max_frames;
	enum etherport_moderation from;
	enum etherport_moderation from_before;	/* what cqe-mode-rx has taken the place of */
	u64 interrupt_ps;	/* the last one */

	enum etherport_adaptive algorithm;
	bool adaptive;
	bool tx_adaptive;
	struct etherport_load rx;
	struct etherport_load tx;
	u64 adapted_jiffy;
};

/* adapt.c */
void etherport_adapt_init(struct etherport_vector *vector);
void etherport_adapt_stop(struct etherport_vector *vector);
void etherport_adapt_start(struct etherport_vector *vector);
void etherport_adapt_tx_start(struct etherport_vector *vector);
void etherport_adapt(struct etherport_vector *vector, u32 speed_mbps, u64 now_ps);

/* moderation.c */
u64 etherport_interrupt_at(const struct etherport_vector *vector, u32 usecs, u64 now_ps);

#endif /* _ETHERPORT_MODERATION_H */
