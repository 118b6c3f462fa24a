/* SPDX-License-Identifier: GPL-2.0-only */
/* The recorder's file: recorder.c. */
#ifndef _ETHERPORT_RECORDER_H
#define _ETHERPORT_RECORDER_H

#include <linux/types.h>

#include "record.h"

/* recorder.c */
bool etherport_recorder_open(u64 *now_ps);
u32 etherport_recorder_part(void);
void etherport_recorder_put(struct etherport_record head, const void *data, u32 len);
bool etherport_recorder_fits(u64 now_ps, u32 len);
void etherport_recorder_see(u8 kind, u64 now_ps);
void etherport_recorder_sync(void);
int etherport_recorder_setup(void);

#endif /* _ETHERPORT_RECORDER_H */
