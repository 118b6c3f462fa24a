/* SPDX-License-Identifier: GPL-2.0-only */
/* Half duplex: a medium that stations share, and the hubs that make one of many cables. */
#ifndef _ETHERPORT_MEDIUM_H
#define _ETHERPORT_MEDIUM_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct etherport;

/* medium.c */
void etherport_medium_begin(struct etherport *port, u64 from_ps, u64 until_ps, u64 now_ps);
void etherport_medium_try(struct etherport *port, u64 now_ps);
bool etherport_medium_event(struct etherport *port, u64 now_ps);
void etherport_medium_call_off(struct etherport *port);

/* hub.c */
void etherport_hub_add(struct etherport *port);
void etherport_hub_remove(struct etherport *port);
void etherport_hub_update(void);
void etherport_repeat(struct etherport *port, struct sk_buff *skb);

#endif /* _ETHERPORT_MEDIUM_H */
