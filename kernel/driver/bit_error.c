// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bit errors: of the bits that a port receives, one in so many is wrong.
 *
 * Each bit may be, whatever became of the others, which is what the bit error
 * ratio of IEEE 802.3 says (1.4, and the objectives of each PHY). The bits up to
 * the next error are then distributed exponentially, and are counted down frame
 * by frame. Between frames there is nothing to be damaged.
 */
#include <linux/math64.h>
#include <linux/random.h>

#include "etherport.h"

/* The generator has no good numbers to begin with, see lib/random32.c. */
#define ETHERPORT_WARM_UP	10

static u64 etherport_random_u64(struct rnd_state *random)
{
	u64 high = prandom_u32_state(random);

	return high << 32 | prandom_u32_state(random);
}

/*
 * The bits up to the next error, the erroneous one included. John von Neumann's
 * way to an exponential variate (Various techniques used in connection with
 * random digits, 1951) needs nothing but comparisons: numbers are drawn for as
 * long as each is smaller than the one before. An odd count accepts the first of
 * them as the fraction, an even one adds a whole mean and begins anew.
 */
static u64 etherport_draw_bits(struct etherport_bit_errors *errors)
{
	u64 bits = 0;

	for (;;) {
		u64 first = etherport_random_u64(&errors->random);
		u64 last = first, next;
		bool odd = true;

		while ((next = etherport_random_u64(&errors->random)) < last) {
			last = next;
			odd = !odd;
		}
		if (odd)
			return bits + mul_u64_u64_shr(first, errors->mean_bits, 64) + 1;
		bits += errors->mean_bits;
	}
}

/* So many bits for one error; which ones they are is drawn from here on. */
void etherport_bit_errors_set(struct etherport_bit_errors *errors, u64 mean_bits)
{
	int i;

	errors->mean_bits = mean_bits;
	if (!mean_bits)
		return;
	prandom_seed_state(&errors->random, get_random_u64());
	for (i = 0; i < ETHERPORT_WARM_UP; i++)
		prandom_u32_state(&errors->random);
	errors->left_bits = etherport_draw_bits(errors);
}

/*
 * Whether an error hits a frame: from its first octet to the last of the FCS. It
 * is lost with one error as with more, and an exponential distribution does not
 * remember: the count begins anew with the next frame.
 */
bool etherport_bit_errors_hit(struct etherport_bit_errors *errors, const struct sk_buff *skb)
{
	u64 bits = 8ULL * (etherport_frame_len(skb) + ETH_FCS_LEN);

	if (!errors->mean_bits)
		return false;
	if (bits < errors->left_bits) {
		errors->left_bits -= bits;
		return false;
	}
	errors->left_bits = etherport_draw_bits(errors);
	return true;
}
