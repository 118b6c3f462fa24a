/* SPDX-License-Identifier: GPL-2.0-only */
/* What it costs a host to keep a copy of each frame: capture.c. */
#ifndef _ETHERPORT_CAPTURE_H
#define _ETHERPORT_CAPTURE_H

#include <linux/types.h>

struct etherport_capture {
	u64 frame_ns;			/* CPU time of a frame when the backlog is full */
	u64 backlog_bytes;		/* 0: nobody captures */
	u64 bytes_per_s;		/* what is written away */
	u64 written_ps;			/* when all that waits now will have been */
};

/* capture.c */
u64 etherport_capture_frame(struct etherport_capture *capture, u64 now_ps, u32 len);

#endif /* _ETHERPORT_CAPTURE_H */
