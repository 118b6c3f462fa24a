/* SPDX-License-Identifier: GPL-2.0-only */
/* Stopping the clock, as src/wirelab/lab/prompt.py and guest/prompt.py have it: prompt.c. */
#ifndef _ETHERPORT_PROMPT_H
#define _ETHERPORT_PROMPT_H

#include <linux/compiler.h>
#include <linux/ioctl.h>
#include <linux/types.h>

struct etherport;

#define ETHERPORT_PROMPT_NAME	"wirelab-prompt"	/* below /dev */
#define ETHERPORT_PROMPT_STAND	_IO('w', 0)	/* nothing is to happen until the host says so */

/* What of later files the prompt calls. */
struct etherport_prompt_calls {
	void (*flush)(void);	/* have all in the recorder's file that has happened */
	void (*show)(void);	/* print where each frame is */
};

/* Whether a record may be what the host waits for: see etherport_prompt_see(). */
extern bool etherport_prompt_watched;

/* All that a lab without a prompt asks of it. */
static inline bool etherport_prompt_watches(void)
{
	return unlikely(etherport_prompt_watched);
}

/* prompt.c */
int etherport_prompt_setup(const struct etherport_prompt_calls *calls);
void etherport_prompt_see(const struct etherport *port, u8 kind, const void *data);
__printf(1, 2) void etherport_prompt_print(const char *format, ...);

/* show.c */
void etherport_show(void);

#endif /* _ETHERPORT_PROMPT_H */
