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
 * The vector of an interval is one for both directions: what has been sent raises
 * it, too. Nobody waits for that here, so such an interrupt gets no event of its
 * own; it is reckoned up when the next frame comes or leaves.
 */
#include "etherport.h"

static u64 etherport_usecs_ps(const struct etherport_vector *vector)
{
	return vector->usecs * 1000000ULL;
}

static bool etherport_is_interval(const struct etherport_vector *vector)
{
	return vector->from == ETHERPORT_INTERVAL;
}

/* The interrupt that told of frames sent, if it was due meanwhile. */
static void etherport_catch_up(struct etherport_vector *vector, u32 speed_mbps, u64 now_ps)
{
	u64 due_ps = vector->interrupt_ps + etherport_usecs_ps(vector);

	if (!vector->sent || due_ps > now_ps)
		return;
	etherport_interrupted(vector, due_ps);
	etherport_adapt(vector, speed_mbps, due_ps);
}

/* When the frame that has come now may interrupt, others permitting. */
u64 etherport_interrupt_at(struct etherport_vector *vector, u32 speed_mbps, u64 now_ps)
{
	if (!etherport_is_interval(vector))
		return now_ps + etherport_usecs_ps(vector);
	etherport_catch_up(vector, speed_mbps, now_ps);
	return vector->interrupt_ps + etherport_usecs_ps(vector);
}

void etherport_interrupted(struct etherport_vector *vector, u64 now_ps)
{
	vector->interrupt_ps = now_ps;
	vector->interrupts++;
	vector->sent = false;
}

/* The host has taken a frame. */
void etherport_handled(struct etherport_vector *vector, u32 len)
{
	vector->rx.frames++;
	vector->rx.bytes += len;
}

/* A frame has left, and its sender is to hear of it. */
void etherport_frame_sent(struct etherport_vector *vector, u32 len, u32 speed_mbps, u64 now_ps)
{
	if (!etherport_is_interval(vector))
		return;
	etherport_catch_up(vector, speed_mbps, now_ps);
	vector->tx.frames++;
	vector->tx.bytes += len;
	vector->sent = true;
	etherport_catch_up(vector, speed_mbps, now_ps);
}
