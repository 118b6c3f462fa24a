/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernel series the driver is built for. */
#ifndef _ETHERPORT_COMPAT_H
#define _ETHERPORT_COMPAT_H

#include <linux/hrtimer.h>

#ifdef HAVE_NET_GSO_H
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* _ETHERPORT_COMPAT_H */
