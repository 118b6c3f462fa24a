// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "ethtool -C adaptive-rx on" does: after each interrupt the driver looks at
 * what there was to do and chooses the time to the next one. The figures are those
 * of the drivers: ixgbe_update_itr(), igb_update_ring_itr(), e1000_update_itr() of
 * Linux 7.2, and the kernel's own DIM with its profiles.
 */
#include "etherport.h"

/* ixgbe looks at its jiffies; Debian's and Ubuntu's kernels have 250 of them a second. */
#define IXGBE_JIFFY_PS		(4 * 1000000000ULL)
#define IXGBE_LEAST_USECS	10
#define IXGBE_MOST_USECS	126
#define IXGBE_STEP_USECS	2
#define IXGBE_START_USECS	50
/* Added to an interval that short frames call for, so that the other direction's counts. */
#define IXGBE_LATENCY		0x80

/* igb counts in quarters of a microsecond. */
#define IGB_START_QUARTERS	648
#define IGB_LEAST_QUARTERS	196
#define IGB_NOT_GIGABIT_QUARTERS	980
#define IGB_MOST_FRAME_LEN	3000
#define IGB_OVERHEAD_LEN	24

/* e1000 counts interrupts a second. */
#define E1000_START_RATE	20000
#define E1000_NOT_GIGABIT_RATE	4000
enum { E1000_LOWEST, E1000_LOW, E1000_BULK };

static u32 etherport_ixgbe_step_up(const struct etherport_vector *vector)
{
	return min_t(u32, vector->usecs + IXGBE_STEP_USECS, IXGBE_MOST_USECS);
}

/*
 * The interval in which so many frames of this size come at line rate as their
 * buffers, with 640 octets each, fill wmem_default.
 */
static u32 etherport_ixgbe_by_size(u32 len, bool latency, u32 speed_mbps)
{
	bool slow = speed_mbps == 10 || speed_mbps == 1000 || speed_mbps == 2500;
	u32 unit = IXGBE_STEP_USECS * (slow ? 64 : 256);
	u32 interval;

	if (len <= 60)
		interval = 5120;
	else if (len <= 316)
		interval = len * 40 + 2720;
	else if (len <= 1084)
		interval = len * 15 + 11452;
	else if (len < 1968)
		interval = len * 5 + 22420;
	else
		interval = 32256;
	if (latency)
		interval /= 2;
	if (slow)
		interval = min(interval, 8064U);
	return DIV_ROUND_UP(interval, unit) * IXGBE_STEP_USECS;
}

static u32 etherport_ixgbe_direction(const struct etherport_vector *vector,
				     const struct etherport_load *load, u32 speed_mbps)
{
	if (!load->frames)
		return etherport_ixgbe_step_up(vector) + (load->state & IXGBE_LATENCY);
	if (load->frames < 4 && load->bytes < 9000)
		return IXGBE_LATENCY + etherport_ixgbe_by_size(load->bytes / load->frames, true,
							       speed_mbps);
	if (load->frames < 48)
		return etherport_ixgbe_step_up(vector);
	if (load->frames < 96)
		return vector->usecs;
	if (load->frames < 256)
		return max_t(u32, vector->usecs / 2, IXGBE_LEAST_USECS);
	return etherport_ixgbe_by_size(load->bytes / load->frames, false, speed_mbps);
}

static void etherport_ixgbe(struct etherport_vector *vector, u32 speed_mbps, u64 now_ps)
{
	u64 jiffy = div64_u64(now_ps, IXGBE_JIFFY_PS);
	bool idle = jiffy > vector->adapted_jiffy + 1;
	struct etherport_load *tx = &vector->tx, *rx = &vector->rx;

	if (idle) {
		tx->state = IXGBE_LEAST_USECS + IXGBE_LATENCY;
		rx->state = IXGBE_LEAST_USECS + IXGBE_LATENCY;
	} else {
		tx->state = etherport_ixgbe_direction(vector, tx, speed_mbps);
		rx->state = etherport_ixgbe_direction(vector, rx, speed_mbps);
	}
	vector->adapted_jiffy = jiffy;
	vector->usecs = min(rx->state, tx->state) & ~IXGBE_LATENCY;
}

static u32 etherport_mean_len(const struct etherport_load *load)
{
	return load->frames ? load->bytes / load->frames : 0;
}

/* Each vector its own queues, and no interval below that of 20 000 a second: the default. */
static void etherport_igb(struct etherport_vector *vector, u32 speed_mbps)
{
	u32 len = max(etherport_mean_len(&vector->rx), etherport_mean_len(&vector->tx));
	u32 quarters = IGB_NOT_GIGABIT_QUARTERS;

	/* igb knows nothing faster; igc, its successor, does the same at 2.5 Gbit/s */
	if (speed_mbps >= SPEED_1000) {
		if (!len)
			return;
		len = min_t(u32, len + IGB_OVERHEAD_LEN, IGB_MOST_FRAME_LEN);
		quarters = len > 300 && len < 1200 ? len / 3 : len / 2;
		quarters = max_t(u32, quarters, IGB_LEAST_QUARTERS);
	}
	vector->usecs = quarters / 4;
}

static u32 etherport_e1000_class(const struct etherport_load *load)
{
	u32 class = load->state;

	if (!load->frames)
		return class;
	if (class == E1000_BULK) {
		if (load->bytes > 25000)
			return load->frames > 35 ? E1000_LOW : E1000_BULK;
		return load->bytes < 6000 ? E1000_LOW : E1000_BULK;
	}
	if (load->bytes > 10000) {
		if (load->bytes / load->frames > 1200 || load->frames < 10)
			return E1000_BULK;
	} else if (load->bytes / load->frames > 2000) {
		return E1000_BULK;
	}
	/* The lowest latency is for those who ask for it: not by default. */
	return E1000_LOW;
}

static void etherport_e1000(struct etherport_vector *vector, u32 speed_mbps)
{
	u32 rate = USEC_PER_SEC / max(vector->usecs, 1U);
	u32 wanted = E1000_NOT_GIGABIT_RATE;

	if (speed_mbps == SPEED_1000) {
		vector->tx.state = etherport_e1000_class(&vector->tx);
		vector->rx.state = etherport_e1000_class(&vector->rx);
		if (max(vector->tx.state, vector->rx.state) == E1000_LOW)
			wanted = 20000;
	}
	if (wanted > rate)
		wanted = min(rate + wanted / 4, wanted);
	vector->usecs = USEC_PER_SEC / wanted;
}

static void etherport_dim_rx_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct etherport_vector *vector = container_of(dim, struct etherport_vector, rx.dim);
	struct dim_cq_moder profile = net_dim_get_rx_moderation(dim->mode, dim->profile_ix);

	local_bh_disable();
	if (vector->adaptive) {
		vector->usecs = profile.usec;
		vector->max_frames = profile.pkts;
	}
	dim->state = DIM_START_MEASURE;
	local_bh_enable();
}

static void etherport_dim_tx_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct etherport_vector *vector = container_of(dim, struct etherport_vector, tx.dim);
	struct dim_cq_moder profile = net_dim_get_tx_moderation(dim->mode, dim->profile_ix);

	local_bh_disable();
	if (vector->tx_adaptive) {
		vector->tx_usecs = profile.usec;
		vector->tx_max_frames = profile.pkts;
	}
	dim->state = DIM_START_MEASURE;
	local_bh_enable();
}

static void etherport_dim(struct etherport_load *load)
{
	struct dim_sample sample;

	if (!load->frames)
		return;
	load->all_events++;
	load->all_frames += load->frames;
	load->all_bytes += load->bytes;
	dim_update_sample(load->all_events, load->all_frames, load->all_bytes, &sample);
	etherport_net_dim(&load->dim, &sample);
}

/* The interrupt of ``now_ps`` has been dealt with. */
void etherport_adapt(struct etherport_vector *vector, u32 speed_mbps, u64 now_ps)
{
	if (vector->adaptive) {
		switch (vector->algorithm) {
		case ETHERPORT_FIXED:
			break;
		case ETHERPORT_IXGBE:
			etherport_ixgbe(vector, speed_mbps, now_ps);
			break;
		case ETHERPORT_IGB:
			etherport_igb(vector, speed_mbps);
			break;
		case ETHERPORT_E1000:
			etherport_e1000(vector, speed_mbps);
			break;
		case ETHERPORT_DIM:
			etherport_dim(&vector->rx);
			break;
		}
	}
	if (vector->tx_adaptive)
		etherport_dim(&vector->tx);
	vector->rx.frames = 0;
	vector->rx.bytes = 0;
	vector->tx.frames = 0;
	vector->tx.bytes = 0;
}

static void etherport_dim_start(struct dim *dim, u8 mode)
{
	dim->mode = mode;
	dim->profile_ix = NET_DIM_DEF_PROFILE_EQE;
	dim->state = DIM_START_MEASURE;
}

/* What "adaptive-tx on" does: DIM alone adapts it, as the first frame that has left counts. */
void etherport_adapt_tx_start(struct etherport_vector *vector)
{
	struct dim_cq_moder profile;

	etherport_dim_start(&vector->tx.dim, DIM_CQ_PERIOD_MODE_START_FROM_EQE);
	profile = net_dim_get_def_tx_moderation(vector->tx.dim.mode);
	vector->tx_usecs = profile.usec;
	vector->tx_max_frames = profile.pkts;
}

/* As the driver begins when it is loaded. */
void etherport_adapt_start(struct etherport_vector *vector)
{
	struct dim_cq_moder profile;
	u32 state = 0;

	switch (vector->algorithm) {
	case ETHERPORT_FIXED:
		break;
	case ETHERPORT_IXGBE:
		state = IXGBE_MOST_USECS + IXGBE_LATENCY;
		vector->usecs = IXGBE_START_USECS;
		break;
	case ETHERPORT_IGB:
		vector->usecs = IGB_START_QUARTERS / 4;
		break;
	case ETHERPORT_E1000:
		state = E1000_LOW;
		vector->usecs = USEC_PER_SEC / E1000_START_RATE;
		break;
	case ETHERPORT_DIM:
		etherport_dim_start(&vector->rx.dim, vector->from == ETHERPORT_LAST ?
				    DIM_CQ_PERIOD_MODE_START_FROM_CQE :
				    DIM_CQ_PERIOD_MODE_START_FROM_EQE);
		profile = net_dim_get_def_rx_moderation(vector->rx.dim.mode);
		vector->usecs = profile.usec;
		vector->max_frames = profile.pkts;
		break;
	}
	vector->rx.state = state;
	vector->tx.state = state;
	vector->adapted_jiffy = 0;
}

void etherport_adapt_init(struct etherport_vector *vector)
{
	INIT_WORK(&vector->rx.dim.work, etherport_dim_rx_work);
	INIT_WORK(&vector->tx.dim.work, etherport_dim_tx_work);
}

/* A profile that DIM has chosen is not applied any more, nor waited for. */
void etherport_adapt_stop(struct etherport_vector *vector)
{
	cancel_work_sync(&vector->rx.dim.work);
	cancel_work_sync(&vector->tx.dim.work);
	vector->rx.dim.state = DIM_START_MEASURE;
	vector->tx.dim.state = DIM_START_MEASURE;
}
