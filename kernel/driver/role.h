/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of the frames that a port receives, see role.c */
#ifndef _ETHERPORT_ROLE_H
#define _ETHERPORT_ROLE_H

struct etherport;

enum etherport_role {
	ETHERPORT_HOST,		/* they end in this stack */
	ETHERPORT_FORWARD,	/* they are passed on by what has the port: switch */
	ETHERPORT_THROUGH,	/* they leave by the other port of the node: module */
	ETHERPORT_REPEAT,	/* they are repeated, bit by bit: hub */
};

/* role.c */
extern const char * const etherport_roles[];

int etherport_role_set(struct etherport *port, enum etherport_role role);

#endif /* _ETHERPORT_ROLE_H */
