/* SPDX-License-Identifier: GPL-2.0-only */
/* MAC control frames: what they look like, and their memory. */
#ifndef _ETHERPORT_CONTROL_H
#define _ETHERPORT_CONTROL_H

#include <linux/if_ether.h>

#include "etherport.h"

/* IEEE 802.3 Table 31A-1 and clause 31.3: the whole MAC control frame. */
struct etherport_control_frame {
	struct ethhdr eth;
	__be16 opcode;
	union {
		__be16 quanta;
		struct {
			__be16 enabled;
			__be16 quanta[ETHERPORT_CLASSES];
		} __packed pfc;
		u8 pad[ETH_ZLEN - ETH_HLEN - 2];
	};
} __packed;

#define ETHERPORT_OPCODE_PAUSE	0x0001
#define ETHERPORT_OPCODE_PFC	0x0101

/* control.c */
void etherport_control_setup(void);
struct sk_buff *etherport_control_new(struct etherport *port);
void etherport_control_free(struct sk_buff *skb);
void etherport_control_read(const struct sk_buff *skb, struct etherport_control_frame *frame);
bool etherport_control_is_for(const struct etherport *port,
			      const struct etherport_control_frame *frame);

#endif /* _ETHERPORT_CONTROL_H */
