// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a card may wake its host ("ethtool -C rx-usecs"). Hardware counts in one
 * of three ways:
 *
 *   first     from the first frame that waits: every frame is late by so much
 *   interval  from the last interrupt: after a pause a frame interrupts at once
 *             (Intel I210 datasheet 7.3.4, 82599 datasheet 7.3.2: EITR)
 *   last      from the last frame, each starts it anew (cqe-mode-rx)
 *
 * The vector is one for both directions: whichever raises it, the host looks at
 * both. An interval is one for both as well.
 */
#include "etherport.h"

#define ETHERPORT_PS_PER_US	1000000ULL

/* When the frame that has come now, or left, may interrupt, others permitting. */
u64 etherport_interrupt_at(const struct etherport_vector *vector, u32 usecs, u64 now_ps)
{
	if (vector->from == ETHERPORT_INTERVAL)
		return vector->interrupt_ps + vector->usecs * ETHERPORT_PS_PER_US;
	return now_ps + usecs * ETHERPORT_PS_PER_US;
}
