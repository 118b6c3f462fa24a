/* SPDX-License-Identifier: GPL-2.0-only */
/* What a port counts; stats.c tells it. */
#ifndef _ETHERPORT_COUNTERS_H
#define _ETHERPORT_COUNTERS_H

#include <linux/types.h>

struct etherport_counters {
	u64 tx_frames;		/* data frames that left by the cable */
	u64 tx_bytes;
	u64 tx_lost_frames;	/* of these, on the cable when it was pulled */
	u64 tx_dropped_down;	/* no link, or none any more when it was their turn */
	u64 tx_dropped_error;	/* no memory, or not to be segmented */
	u64 tx_dropped_collisions;	/* given up: a late one, or 16 attempts */
	u64 tx_excessive_collisions;	/* of these, for the 16 attempts */
	u64 tx_collisions;	/* attempts that were not alone */
	u64 tx_single_collisions;	/* frames that left after one of them */
	u64 tx_multiple_collisions;	/* after more */
	u64 tx_late_collisions;	/* later than the slot time: a duplex mismatch */
	u64 tx_deferred;	/* frames that waited for somebody else's */
	u64 tx_pause_frames;
	u64 tx_pfc_frames;
	u64 tx_unknown_control_frames;	/* with another opcode */
	u64 tx_injected_frames;	/* of all three, those that did not come from this MAC */
	u64 rx_wire_frames;	/* data frames that came by the cable */
	u64 rx_frames;		/* of these, handed to the stack or forwarded */
	u64 rx_bytes;
	u64 rx_filtered_frames;	/* for another address than the host's */
	u64 rx_dropped_buffer;	/* the packet buffer was full */
	u64 rx_dropped_pool;	/* the memory that ports share was full */
	u64 rx_dropped_oversize;	/* longer than the MTU allows */
	u64 rx_dropped_down;	/* the port was down */
	u64 rx_dropped_error;	/* no memory */
	u64 rx_dropped_collision;	/* sent into a frame of ours */
	u64 rx_dropped_fcs;	/* a bit error: the frame check sequence is wrong */
	u64 rx_damaged_control_frames;	/* the same of MAC control frames, whatever they said */
	u64 rx_pause_frames;
	u64 rx_pfc_frames;
	u64 rx_unknown_control_frames;
	u64 interrupts;
};

#endif /* _ETHERPORT_COUNTERS_H */
