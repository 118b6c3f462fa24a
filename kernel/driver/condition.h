/* SPDX-License-Identifier: GPL-2.0-only */
/* What somebody waits for who has stopped the clock: condition.c. */
#ifndef _ETHERPORT_CONDITION_H
#define _ETHERPORT_CONDITION_H

#include <linux/if.h>
#include <linux/types.h>

struct etherport;

enum etherport_awaited {
	ETHERPORT_NOTHING,
	ETHERPORT_HAPPENS,
	ETHERPORT_FILL,
	ETHERPORT_TCP,
};

struct etherport_condition {
	enum etherport_awaited what;
	unsigned int kind;		/* of record; 0: any */
	char port[IFNAMSIZ];		/* "*": any */
	u16 local_port;
	u16 remote_port;
	size_t figure;			/* where in the record */
	char op;			/* < or > */
	u32 than;
};

/* condition.c */
bool etherport_condition_read(struct etherport_condition *condition, const char *text);
bool etherport_condition_holds(const struct etherport_condition *condition,
			       const struct etherport *port, u8 kind, const void *data);

#endif /* _ETHERPORT_CONDITION_H */
