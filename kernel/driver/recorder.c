// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder's file on the host: when something is recorded, and where it goes.
 *
 * The kernel writes it by itself: no process of the lab has to run for it, so that
 * no virtual time passes and nothing is measured but what is measured without it.
 * For the same reason its settings come with the command line, where the kernel
 * does not see them (it mixes what it sees into its random numbers), and nothing
 * asks when a window begins: the clock is looked at when there is something to
 * record.
 *
 *   record=<file of the host>
 *   record_windows=<from ns>-<until ns>[,...]	of the kernel's clock
 *   record_around=<ns>	in their place: before and after each moment that is worth it
 *   record_bytes=<the most that it writes>
 */
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <init.h>
#include <os.h>

#include "moments.h"
#include "recorder.h"

#define ETHERPORT_RECORD_WINDOWS_MAX	8
#define ETHERPORT_RECORD_BUFFER_LEN	(1024 * 1024)

static char *record __initdata;
static char *record_windows __initdata;
static char *record_around __initdata;
static char *record_bytes __initdata;

u64 etherport_record_look_ns = U64_MAX;
u32 etherport_record_kinds = U32_MAX;

struct etherport_recorder_page etherport_recorder_page;

static struct {
	int fd;
	u8 *buffer;
	u32 buffer_len;
	u64 written_bytes;
	u64 limit_bytes;	/* how long the file may become */
	u64 until_ps;		/* of the window that is open, or of the next one */
	struct {
		u64 from_ps;
		u64 until_ps;
	} windows[ETHERPORT_RECORD_WINDOWS_MAX];
	u32 window_count;
	u32 window;		/* that is open, or the next one */
	bool moments;		/* only what was around them is kept */
	u64 begun_ps;		/* when the buffer was empty: nothing before it is later */
	u64 end_ps;		/* there was no room for more */
} recorder;

static u64 etherport_recorder_ps(u64 now_ns)
{
	return (now_ns - etherport_recorder_page.ahead_ns) * 1000;
}

/*
 * The disk is full: the file ends in front of what found no room, the lab goes on.
 * The last block that it has is seldom full, so that this needs no other.
 */
static void etherport_recorder_cut(void)
{
	const struct etherport_record end = {
		.at_ps = recorder.begun_ps,
		.kind = ETHERPORT_RECORD_END,
	};

	etherport_record_look_ns = U64_MAX;
	if (recorder.moments)
		recorder.end_ps = end.at_ps;
	else if (os_seek_file(recorder.fd, recorder.written_bytes) ||
		 os_write_file(recorder.fd, &end, sizeof(end)) != sizeof(end))
		pr_err("etherport: the record has no end, for the disk is full\n");
}

static bool etherport_recorder_write(u32 used)
{
	return os_write_file(recorder.fd, recorder.buffer, used) == used;
}

/* False: neither a block nor the disk has room for the buffer. */
static bool etherport_recorder_write_block(u32 used)
{
	int block = etherport_moments_free_block();

	if (block < 0 || os_seek_file(recorder.fd, (u64)block * ETHERPORT_MOMENTS_BLOCK_LEN) ||
	    !etherport_recorder_write(used))
		return false;
	etherport_moments_wrote(block, etherport_recorder_part(), used);
	return true;
}

/* The buffer is empty: how far it may be filled. */
static void etherport_recorder_begin(void)
{
	struct etherport_recorder_page *page = &etherport_recorder_page;
	u64 room = recorder.buffer_len;

	/* A file of moments has its number of blocks. */
	if (!recorder.moments)
		room = min(room, recorder.limit_bytes - min(recorder.written_bytes,
							    recorder.limit_bytes));
	recorder.begun_ps = etherport_recorder_ps(time_travel_now());
	page->next = (u64 *)recorder.buffer;
	page->last = (u64 *)(recorder.buffer + round_down(room, 8) - ETHERPORT_RECORDER_ROOM);
}

static void etherport_recorder_flush(void)
{
	const u32 used = (u8 *)etherport_recorder_page.next - recorder.buffer;

	if (used && !recorder.end_ps &&
	    !(recorder.moments ? etherport_recorder_write_block(used) :
				 etherport_recorder_write(used)))
		etherport_recorder_cut();
	recorder.written_bytes += used;
	etherport_recorder_begin();
}

static void etherport_recorder_window(u32 window)
{
	recorder.window = window;
	if (window == recorder.window_count) {
		etherport_record_look_ns = U64_MAX;
		return;
	}
	recorder.until_ps = recorder.windows[window].until_ps;
	etherport_record_look_ns = etherport_recorder_page.ahead_ns +
				   div_u64(recorder.windows[window].from_ps, 1000);
}

/* The file is as long as it may be: nothing more is recorded. */
static void etherport_recorder_fill(u64 now_ps)
{
	etherport_recorder_put((struct etherport_record){
		.at_ps = now_ps,
		.kind = ETHERPORT_RECORD_END,
	}, NULL, 0);
	etherport_recorder_flush();
	etherport_record_look_ns = U64_MAX;
}

/*
 * Whether something is recorded now, with room for it: asked where a window or a part
 * of the file has ended, or the buffer is full.
 */
bool etherport_recorder_turn(u64 now_ns)
{
	struct etherport_recorder_page *page = &etherport_recorder_page;
	const u64 now_ps = etherport_recorder_ps(now_ns);

	while (now_ps >= recorder.until_ps && recorder.window < recorder.window_count)
		etherport_recorder_window(recorder.window + 1);
	if (!etherport_records())
		return false;
	page->until_ns = page->ahead_ns + div_u64(recorder.until_ps, 1000);
	if (recorder.moments) {
		u32 slice = etherport_moments_slice(now_ps);

		if (slice != page->part)
			etherport_recorder_flush();
		page->part = slice;
		page->until_ns = page->ahead_ns + div_u64(etherport_moments_slice_end_ps(), 1000);
	}
	if (page->next > page->last)
		etherport_recorder_flush();
	if (page->next > page->last)
		etherport_recorder_fill(now_ps);
	return etherport_records();
}

/* Something has been recorded: what is about it may be worth keeping. */
void etherport_recorder_see(u8 kind, u64 now_ps)
{
	if (recorder.moments)
		etherport_moments_see(kind, now_ps);
}

/* Whether whoever reads the file sees packets: a picture of a moment shows no headers. */
bool etherport_recorder_shows_packets(void)
{
	return recorder.buffer && !recorder.moments;
}

/* All that has been recorded is in the file. */
void etherport_recorder_sync(void)
{
	if (recorder.buffer)
		etherport_recorder_flush();
}

static void etherport_recorder_end(void)
{
	const struct etherport_moments *table;

	etherport_recorder_sync();
	if (!recorder.buffer || !recorder.moments)
		return;
	table = etherport_moments_table(recorder.end_ps);
	if (os_seek_file(recorder.fd, 0) ||
	    os_write_file(recorder.fd, table, sizeof(*table)) != sizeof(*table))
		pr_err("etherport: the record cannot be read, for the disk is full\n");
}
__uml_exitcall(etherport_recorder_end);

/* "<from ns>-<until ns>[,...]", each later than the one before. */
static int __init etherport_recorder_read_windows(char *text)
{
	u64 after_ps = 0;
	char *word;

	while ((word = strsep(&text, ","))) {
		u64 *from_ps = &recorder.windows[recorder.window_count].from_ps;
		u64 *until_ps = &recorder.windows[recorder.window_count].until_ps;
		char *from = strsep(&word, "-");

		if (recorder.window_count == ETHERPORT_RECORD_WINDOWS_MAX || !word ||
		    kstrtou64(from, 10, from_ps) || kstrtou64(word, 10, until_ps) ||
		    *until_ps > div_u64(U64_MAX, 1000))
			return -EINVAL;
		*from_ps *= 1000;
		*until_ps *= 1000;
		if (*from_ps < after_ps || *until_ps <= *from_ps)
			return -EINVAL;
		after_ps = *until_ps;
		recorder.window_count++;
	}
	return 0;
}

static int __init etherport_recorder_file_option(char *value, int *add)
{
	*add = 0;
	record = value;
	return 0;
}

__uml_setup("record=", etherport_recorder_file_option,
	    "record=<file of the host>\n"
	    "    Write there what becomes of each frame, in the windows of record_windows.\n\n");

static int __init etherport_recorder_windows_option(char *value, int *add)
{
	*add = 0;
	record_windows = value;
	return 0;
}

__uml_setup("record_windows=", etherport_recorder_windows_option,
	    "record_windows=<from ns>-<until ns>[,...]\n"
	    "    When to record, by the kernel's clock.\n\n");

static int __init etherport_recorder_around_option(char *value, int *add)
{
	*add = 0;
	record_around = value;
	return 0;
}

__uml_setup("record_around=", etherport_recorder_around_option,
	    "record_around=<ns>\n"
	    "    Keep so much around the first frame that is dropped, and around where most\n"
	    "    are; if none is, the same of pauses. In the place of record_windows.\n\n");

static int __init etherport_recorder_bytes_option(char *value, int *add)
{
	*add = 0;
	record_bytes = value;
	return 0;
}

__uml_setup("record_bytes=", etherport_recorder_bytes_option,
	    "record_bytes=<number>\n"
	    "    How long the file of record may become.\n\n");

/* The whole run, of which only what was around moments is kept. */
static int __init etherport_recorder_keep_moments(void)
{
	u64 around_ns;
	int err;

	if (kstrtou64(record_around, 10, &around_ns) || !around_ns || around_ns > NSEC_PER_SEC)
		return -EINVAL;
	err = etherport_moments_setup(around_ns * 1000, recorder.limit_bytes);
	recorder.moments = true;
	/* What no picture of a moment has is more than half of what there is to be written. */
	etherport_record_kinds &= ~(u32)(BIT(ETHERPORT_RECORD_RX_RING) |
					 BIT(ETHERPORT_RECORD_HANDED) | BIT(ETHERPORT_RECORD_TCP));
	recorder.windows[0].until_ps = U64_MAX;
	recorder.window_count = 1;
	return err;
}

static int __init etherport_recorder_read_options(void)
{
	if (!record_bytes || kstrtou64(record_bytes, 10, &recorder.limit_bytes)) {
		pr_err("etherport: record_bytes is no number\n");
		return -EINVAL;
	}
	if (record_around) {
		int err = etherport_recorder_keep_moments();

		if (err)
			pr_err("etherport: record_around is no time, or there is no room\n");
		return err;
	}
	if (!record_windows || etherport_recorder_read_windows(record_windows)) {
		pr_err("etherport: record_windows are no windows\n");
		return -EINVAL;
	}
	return 0;
}

int __init etherport_recorder_setup(void)
{
	static const char magic[] = ETHERPORT_RECORD_MAGIC;
	struct etherport_recorder_page *page = &etherport_recorder_page;
	unsigned long flags;
	int err;

	if (!record)
		return 0;
	err = etherport_recorder_read_options();
	if (err)
		return err;
	recorder.buffer_len = recorder.moments ? ETHERPORT_MOMENTS_BLOCK_LEN :
						 ETHERPORT_RECORD_BUFFER_LEN;
	recorder.buffer = vmalloc(recorder.buffer_len);
	if (!recorder.buffer)
		return -ENOMEM;
	recorder.fd = os_open_file(record, of_create(of_write(OPENFLAGS())), 0644);
	if (recorder.fd < 0) {
		pr_err("etherport: %s cannot be written\n", record);
		return recorder.fd;
	}
	/* To read the kernel's clock costs a process time unless it is uninterruptible. */
	local_irq_save(flags);
	page->ahead_ns = time_travel_now() - ktime_get_ns();
	local_irq_restore(flags);
	page->part = 1;
	etherport_recorder_begin();
	if (!recorder.moments) {
		BUILD_BUG_ON(sizeof(magic) - 1 != 16);
		memcpy(page->next, magic, 16);
		page->next += 2;
	}
	etherport_recorder_window(0);
	return 0;
}
