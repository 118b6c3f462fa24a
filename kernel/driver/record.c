// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of each frame, and when, in a file of the host.
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
 *   record_bytes=<the most that it writes>
 *
 * A frame gets its number when it is first recorded. It is kept where a security
 * module would mark the frame, and so goes with it from port to port, into every
 * segment and copy of it.
 */
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <init.h>
#include <os.h>

#include "etherport.h"
#include "prompt.h"

#define ETHERPORT_RECORD_WINDOWS_MAX	8
#define ETHERPORT_RECORD_BUFFER_LEN	(1024 * 1024)

static char *record __initdata;
static char *record_windows __initdata;
static char *record_bytes __initdata;

u64 etherport_record_look_ns = U64_MAX;

static struct {
	int fd;
	u8 *buffer;
	u32 used;
	u64 written_bytes;
	u64 left_bytes;		/* until the file is as long as it may be, its end taken off */
	u64 ahead_ns;		/* the clock of time travel, of the one that tells windows */
	u64 until_ps;		/* of the window that is open, or of the next one */
	struct {
		u64 from_ps;
		u64 until_ps;
	} windows[ETHERPORT_RECORD_WINDOWS_MAX];
	u32 window_count;
	u32 window;		/* that is open, or the next one */
	u32 frames;
	u16 ports;
} recorder;

/*
 * The disk is full: the file ends in front of what found no room, the lab goes on.
 * The last block that it has is seldom full, so that this needs no other.
 */
static void etherport_record_cut(void)
{
	const struct etherport_record *lost = (const struct etherport_record *)recorder.buffer;
	const struct etherport_record end = {
		.at_ps = lost->at_ps,
		.kind = ETHERPORT_RECORD_END,
	};

	etherport_record_look_ns = U64_MAX;
	if (os_seek_file(recorder.fd, recorder.written_bytes) ||
	    os_write_file(recorder.fd, &end, sizeof(end)) != sizeof(end))
		pr_err("etherport: the record has no end, for the disk is full\n");
}

static void etherport_record_flush(void)
{
	if (recorder.used && os_write_file(recorder.fd, recorder.buffer, recorder.used) !=
			     recorder.used)
		etherport_record_cut();
	recorder.written_bytes += recorder.used;
	recorder.used = 0;
}

static void etherport_record_window(u32 window)
{
	recorder.window = window;
	if (window == recorder.window_count) {
		etherport_record_look_ns = U64_MAX;
		return;
	}
	recorder.until_ps = recorder.windows[window].until_ps;
	etherport_record_look_ns = recorder.ahead_ns +
				   div_u64(recorder.windows[window].from_ps, 1000);
}

/* Whether a window is open. The kernel's clock costs more to read, and a process virtual time. */
static bool etherport_record_open(u64 *now_ps)
{
	*now_ps = (time_travel_now() - recorder.ahead_ns) * 1000;
	while (*now_ps >= recorder.until_ps && recorder.window < recorder.window_count)
		etherport_record_window(recorder.window + 1);
	return etherport_records();
}

static void etherport_record_put(struct etherport_record head, const void *data, u32 len)
{
	u32 whole = roundup(len, 8);

	head.words = whole / 8;
	if (recorder.used + sizeof(head) + whole > ETHERPORT_RECORD_BUFFER_LEN)
		etherport_record_flush();
	memcpy(recorder.buffer + recorder.used, &head, sizeof(head));
	recorder.used += sizeof(head);
	memcpy(recorder.buffer + recorder.used, data, len);
	memset(recorder.buffer + recorder.used + len, 0, whole - len);
	recorder.used += whole;
	recorder.left_bytes -= min_t(u64, recorder.left_bytes, sizeof(head) + whole);
}

/* False: what may be ``len`` long has no room, the file is as long as it may be. */
static bool etherport_record_fits(u64 now_ps, u32 len)
{
	const struct etherport_record end = { .at_ps = now_ps, .kind = ETHERPORT_RECORD_END };

	if (recorder.left_bytes >= len)
		return true;
	etherport_record_put(end, NULL, 0);
	etherport_record_flush();
	etherport_record_look_ns = U64_MAX;
	return false;
}

static void etherport_record_port(struct etherport *port, u64 now_ps)
{
	struct etherport_record_port named = {};

	port->record_number = ++recorder.ports;
	strscpy(named.name, port->dev->name, sizeof(named.name));
	etherport_record_put((struct etherport_record){
		.at_ps = now_ps,
		.port = port->record_number,
		.kind = ETHERPORT_RECORD_PORT,
	}, &named, sizeof(named));
}

/*
 * The number of a frame, which it gets with its first record; 0 where none is kept.
 * Whoever asks has the frame with its Ethernet header.
 */
u32 etherport_record_number(struct sk_buff *skb)
{
	struct etherport_record_frame frame;
	u64 now_ps;

	if (skb->secmark || !etherport_record_open(&now_ps) ||
	    !etherport_record_fits(now_ps, 2 * sizeof(struct etherport_record) + sizeof(frame)))
		return skb->secmark;
	frame.len = etherport_frame_len(skb);
	frame.kept = min_t(u32, skb->len, ETHERPORT_RECORD_HEADERS_LEN);
	skb->secmark = ++recorder.frames;
	skb_copy_bits(skb, 0, frame.headers, frame.kept);
	etherport_record_put((struct etherport_record){
		.at_ps = now_ps,
		.frame = skb->secmark,
		.kind = ETHERPORT_RECORD_FRAME,
	}, &frame, offsetof(struct etherport_record_frame, headers) + frame.kept);
	return skb->secmark;
}

/*
 * Something happened at ``at_ps``, which is not later than now, to a frame of that
 * number; 0 is now, and none.
 */
void etherport_record_of(struct etherport *port, u32 number, u8 kind, u64 at_ps, const void *data,
			 u32 len)
{
	u64 now_ps;

	/* With what may have to be said of the port. */
	if (!etherport_record_open(&now_ps) ||
	    !etherport_record_fits(now_ps, 3 * sizeof(struct etherport_record) + len +
				   sizeof(struct etherport_record_port)))
		return;
	if (port && !port->record_number)
		etherport_record_port(port, now_ps);
	etherport_record_put((struct etherport_record){
		.at_ps = at_ps ? : now_ps,
		.frame = number,
		.port = port ? port->record_number : 0,
		.kind = kind,
	}, data, len);
	if (etherport_prompt_watches())
		etherport_prompt_see(port, kind, data);
}

/* The same of a frame that is there, or of none. */
void etherport_record_write(struct etherport *port, struct sk_buff *skb, u8 kind, u64 at_ps,
			    const void *data, u32 len)
{
	etherport_record_of(port, skb ? etherport_record_number(skb) : 0, kind, at_ps, data, len);
}

/* Nothing more is to be said of it than that it was so. */
void etherport_record_frame_is(struct etherport *port, struct sk_buff *skb, u8 kind)
{
	etherport_record_write(port, skb, kind, 0, NULL, 0);
}

/* What a queue, ring or buffer holds once the frame is in it, or has left it. */
void etherport_record_fill_of(struct etherport *port, struct sk_buff *skb, u8 kind, u64 bytes,
			      u32 frames)
{
	const struct etherport_record_fill fill = { .bytes = bytes, .frames = frames };

	etherport_record_write(port, skb, kind, 0, &fill, sizeof(fill));
}

/* Its last bit leaves at ``end_ps``. */
void etherport_record_sent(struct etherport *port, struct sk_buff *skb, u64 end_ps, u32 ring_frames)
{
	const struct etherport_record_sent sent = {
		.start_ps = end_ps - etherport_wire_ps(port, skb),
		.control = etherport_is_control(skb),
		.damaged = port->tx_damaged,
		.ring_frames = ring_frames,
	};

	etherport_record_write(port, skb, ETHERPORT_RECORD_SENT, end_ps, &sent, sizeof(sent));
}

/* It is to be silent until then; with no quanta it is so no longer. */
void etherport_record_paused(struct etherport *port, int class, u16 quanta, u64 until_ps)
{
	const struct etherport_record_paused paused = {
		.until_ps = until_ps,
		.class = class,
		.quanta = quanta,
	};

	etherport_record_write(port, NULL, ETHERPORT_RECORD_PAUSED, 0, &paused, sizeof(paused));
}

/* ``counter`` is one of the port's, and says why the frame is lost. */
void etherport_record_drop(struct etherport *port, struct sk_buff *skb, const u64 *counter,
			   u64 fill_bytes, u64 limit_bytes)
{
	const struct etherport_record_dropped dropped = {
		.cause = counter - (const u64 *)&port->count,
		.fill_bytes = fill_bytes,
		.limit_bytes = limit_bytes,
	};

	etherport_record_write(port, skb, ETHERPORT_RECORD_DROPPED, 0, &dropped, sizeof(dropped));
}

/* A frame is lost, for the reason that ``counter`` of its port counts. */
void etherport_lose(struct etherport *port, struct sk_buff *skb, u64 *counter)
{
	(*counter)++;
	if (etherport_records())
		etherport_record_drop(port, skb, counter, 0, 0);
	kfree_skb(skb);
}

/* Each of a queue. */
void etherport_lose_all(struct etherport *port, struct sk_buff_head *queue, u64 *counter)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		etherport_lose(port, skb, counter);
}

/* "<from ns>-<until ns>[,...]", each later than the one before. */
static int __init etherport_record_read_windows(char *text)
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

static void etherport_record_end(void)
{
	if (recorder.buffer)
		etherport_record_flush();
}
__uml_exitcall(etherport_record_end);

/* All that has been recorded is in the file. */
void etherport_record_sync(void)
{
	etherport_record_end();
}

static int __init etherport_record_file_option(char *value, int *add)
{
	*add = 0;
	record = value;
	return 0;
}

__uml_setup("record=", etherport_record_file_option,
	    "record=<file of the host>\n"
	    "    Write there what becomes of each frame, in the windows of record_windows.\n\n");

static int __init etherport_record_windows_option(char *value, int *add)
{
	*add = 0;
	record_windows = value;
	return 0;
}

__uml_setup("record_windows=", etherport_record_windows_option,
	    "record_windows=<from ns>-<until ns>[,...]\n"
	    "    When to record, by the kernel's clock.\n\n");

static int __init etherport_record_bytes_option(char *value, int *add)
{
	*add = 0;
	record_bytes = value;
	return 0;
}

__uml_setup("record_bytes=", etherport_record_bytes_option,
	    "record_bytes=<number>\n"
	    "    How long the file of record may become.\n\n");

int __init etherport_record_setup(void)
{
	static const char magic[] = ETHERPORT_RECORD_MAGIC;
	unsigned long flags;

	if (!record)
		return 0;
	if (!record_windows || etherport_record_read_windows(record_windows)) {
		pr_err("etherport: record_windows are no windows\n");
		return -EINVAL;
	}
	if (!record_bytes || kstrtou64(record_bytes, 10, &recorder.left_bytes)) {
		pr_err("etherport: record_bytes is no number\n");
		return -EINVAL;
	}
	recorder.left_bytes -= min_t(u64, recorder.left_bytes,
				     sizeof(magic) - 1 + sizeof(struct etherport_record));
	recorder.buffer = vmalloc(ETHERPORT_RECORD_BUFFER_LEN);
	if (!recorder.buffer)
		return -ENOMEM;
	recorder.fd = os_open_file(record, of_create(of_write(OPENFLAGS())), 0644);
	if (recorder.fd < 0) {
		pr_err("etherport: %s cannot be written\n", record);
		return recorder.fd;
	}
	BUILD_BUG_ON(sizeof(magic) - 1 != 16);
	memcpy(recorder.buffer, magic, 16);
	recorder.used = 16;
	/* To read the kernel's clock costs a process time unless it is uninterruptible. */
	local_irq_save(flags);
	recorder.ahead_ns = time_travel_now() - ktime_get_ns();
	local_irq_restore(flags);
	etherport_record_window(0);
	return 0;
}
