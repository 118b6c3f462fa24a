/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernel series the driver is built for. */
#ifndef _ETHERPORT_COMPAT_H
#define _ETHERPORT_COMPAT_H

#ifdef HAVE_NET_GSO_H
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#include <linux/dim.h>

/* Both modes begin with the second profile; older kernels say so where nobody else sees it. */
#ifndef NET_DIM_DEF_PROFILE_EQE
#define NET_DIM_DEF_PROFILE_EQE	1
#endif

static inline void etherport_net_dim(struct dim *dim, const struct dim_sample *sample)
{
#ifdef HAVE_NET_DIM_POINTER
	net_dim(dim, sample);
#else
	net_dim(dim, *sample);
#endif
}

#endif /* _ETHERPORT_COMPAT_H */
