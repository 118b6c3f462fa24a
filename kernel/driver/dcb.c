// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priority flow control, and what a port trusts, the way real NICs and switches
 * are told: "dcb pfc" and "dcb apptrust" of iproute2.
 */
#include <net/dcbnl.h>

#include "etherport.h"

#define ETHERPORT_DCBX_MODE	(DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)

static int etherport_ieee_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	const struct etherport *port = netdev_priv(dev);
	int class;

	BUILD_BUG_ON(IEEE_8021QAZ_MAX_TCS != ETHERPORT_CLASSES);
	pfc->pfc_cap = port->class_count == ETHERPORT_CLASSES ? ETHERPORT_CLASSES : 0;
	pfc->pfc_en = port->pfc;
	for (class = 0; class < port->class_count; class++) {
		pfc->requests[class] = port->classes[class].pfc_requests;
		pfc->indications[class] = port->classes[class].pfc_indications;
	}
	return 0;
}

/* Room for what a cable still holds is part of buffer_bytes, there is no MACsec. */
static int etherport_ieee_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct etherport *port = netdev_priv(dev);

	if (pfc->delay || pfc->mbc)
		return -EOPNOTSUPP;
	if (pfc->pfc_en && port->class_count < ETHERPORT_CLASSES)
		return -EOPNOTSUPP;
	if (pfc->pfc_en == port->pfc)
		return 0;

	etherport_unlink(port);
	port->pfc = pfc->pfc_en;
	etherport_resolve(port);
	return 0;
}

static u8 etherport_getdcbx(struct net_device *dev)
{
	return ETHERPORT_DCBX_MODE;
}

static u8 etherport_setdcbx(struct net_device *dev, u8 mode)
{
	return mode != ETHERPORT_DCBX_MODE;
}

/* Which DSCP is which priority is not to be changed, see priority.c. */
static int etherport_refuse_app(struct net_device *dev, struct dcb_app *app)
{
	return -EOPNOTSUPP;
}

#ifdef HAVE_DCBNL_APPTRUST
static int etherport_getapptrust(struct net_device *dev, u8 *selectors, int *nselectors)
{
	const struct etherport *port = netdev_priv(dev);

	selectors[0] = port->trust == ETHERPORT_DSCP ? IEEE_8021QAZ_APP_SEL_DSCP : DCB_APP_SEL_PCP;
	*nselectors = 1;
	return 0;
}

static int etherport_setapptrust(struct net_device *dev, u8 *selectors, int nselectors)
{
	struct etherport *port = netdev_priv(dev);

	if (nselectors != 1)
		return -EOPNOTSUPP;

	switch (selectors[0]) {
	case IEEE_8021QAZ_APP_SEL_DSCP:
		port->trust = ETHERPORT_DSCP;
		return 0;
	case DCB_APP_SEL_PCP:
		port->trust = ETHERPORT_PCP;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}
#endif

const struct dcbnl_rtnl_ops etherport_dcbnl_ops = {
	.ieee_getpfc		= etherport_ieee_getpfc,
	.ieee_setpfc		= etherport_ieee_setpfc,
	.ieee_setapp		= etherport_refuse_app,
	.getdcbx		= etherport_getdcbx,
	.setdcbx		= etherport_setdcbx,
#ifdef HAVE_DCBNL_APPTRUST
	.dcbnl_setrewr		= etherport_refuse_app,
	.dcbnl_getapptrust	= etherport_getapptrust,
	.dcbnl_setapptrust	= etherport_setapptrust,
#endif
};
