// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host that captures its own traffic (tcpdump, dumpcap) copies every frame into
 * a backlog, from which a program writes them to a disk as fast as that takes
 * them. The more waits the more of the CPU goes into it: the program runs more
 * often, and what it touches is in no cache any more. How the cost grows is not
 * published; here it is in proportion to the backlog. What finds no room in it is
 * missing in the capture, not in the traffic.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "capture.h"

#define ETHERPORT_PS_PER_S	(1000ULL * 1000 * 1000 * 1000)
#define ETHERPORT_MAX_WRITE_S	(1000ULL * 1000)	/* its ps fit into a u64 */

/* How long it takes to write what may wait; not 0. */
static u64 etherport_backlog_ps(const struct etherport_capture *capture)
{
	if (div64_u64(capture->backlog_bytes, capture->bytes_per_s) >= ETHERPORT_MAX_WRITE_S)
		return ETHERPORT_MAX_WRITE_S * ETHERPORT_PS_PER_S;
	return mul_u64_u64_div_u64(capture->backlog_bytes, ETHERPORT_PS_PER_S,
				   capture->bytes_per_s) ? : 1;
}

/* A frame passes the capture. Returns what CPU time that costs. */
u64 etherport_capture_frame(struct etherport_capture *capture, u64 now_ps, u32 len)
{
	u64 waiting_ps, frame_ps, backlog_ps;

	if (!capture->backlog_bytes || !capture->bytes_per_s)
		return 0;
	backlog_ps = etherport_backlog_ps(capture);
	waiting_ps = min(capture->written_ps - min(capture->written_ps, now_ps), backlog_ps);
	frame_ps = mul_u64_u64_div_u64(len, ETHERPORT_PS_PER_S, capture->bytes_per_s);
	if (waiting_ps + frame_ps <= backlog_ps)
		capture->written_ps = now_ps + waiting_ps + frame_ps;
	return mul_u64_u64_div_u64(capture->frame_ns * 1000, waiting_ps, backlog_ps);
}
