/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernel series the driver is built for. */
#ifndef _ETHERPORT_COMPAT_H
#define _ETHERPORT_COMPAT_H

#ifdef HAVE_NET_GSO_H
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* _ETHERPORT_COMPAT_H */
