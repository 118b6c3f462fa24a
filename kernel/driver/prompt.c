// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping the clock: the lab waits for somebody at the host, inside one instant.
 *
 * Where it stands, its kernel is in a read of the host: no process of the lab runs,
 * no event fires, and virtual time does not pass. The host says how it goes on:
 *
 *   run <ns> <condition>	until that instant of the kernel's clock, 0 for none, or
 *				until what is waited for has happened
 *   tell <bytes>		what follows is for the process that has the device open,
 *				and time passes until that says that it is done
 *   show			tell where each frame is, and stand on
 *   stop			stand, or have the process end what it does (it reads
 *				"stop", too); of no effect where it stands already
 *
 * with a condition of condition.c. A run ends with the instant in which that comes
 * true: the lab stands when all is done that happens then. To the host it says
 *
 *   stands <ns> <why>		"time", "seen", "stopped", or "done" by the process
 *   says <bytes>		what follows is from the process
 *   shows <bytes>, shown	what etherport_show() prints
 *
 * While the lab runs it looks each millisecond whether the host has said something.
 * That changes nothing in what happens: two runs that stand at other instants are
 * the same run, unless a process is told something.
 *
 *   prompt=<descriptor to read from>,<descriptor to write to>
 *
 * Like the recorder's, these words are taken off the command line.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/time-stop.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <init.h>
#include <os.h>

#include "etherport.h"
#include "condition.h"
#include "prompt.h"

#define ETHERPORT_PROMPT_LOOK_NS	NSEC_PER_MSEC
#define ETHERPORT_PROMPT_LINE_LEN	256
#define ETHERPORT_PROMPT_TOLD_MAX	(256 * 1024)
#define ETHERPORT_PROMPT_SAID_MAX	(64 * 1024)
#define ETHERPORT_PROMPT_SHOWN_LEN	(32 * 1024)

static char *prompt __initdata;

bool etherport_prompt_watched;

static struct {
	int in;
	int out;
	const struct etherport_prompt_calls *calls;
	bool running;			/* not for the process: a run of so long */
	struct time_travel_event look;
	const char *why;
	struct etherport_condition condition;

	char *told;			/* to the process, and not read yet */
	size_t told_len;
	char *shown;
	size_t shown_len;
} waits;

static DECLARE_WAIT_QUEUE_HEAD(etherport_prompt_readers);

/* The host has no use for a lab any more that it does not listen to. */
static void etherport_prompt_write(const void *data, size_t len)
{
	while (len) {
		int written = os_write_file(waits.out, data, len);

		if (written == -EINTR || written == -EAGAIN)
			continue;
		if (written <= 0)
			panic("prompt: nobody listens any more");
		data += written;
		len -= written;
	}
}

static __printf(1, 2) void etherport_prompt_say(const char *format, ...)
{
	char line[ETHERPORT_PROMPT_LINE_LEN];
	va_list args;
	int len;

	va_start(args, format);
	len = vscnprintf(line, sizeof(line), format, args);
	va_end(args);
	etherport_prompt_write(line, len);
}

/* One byte or more. False: nothing is there, and ``wait`` is not set. */
static bool etherport_prompt_read(void *data, size_t len, bool wait)
{
	while (len) {
		int got = os_read_file(waits.in, data, len);

		if (got == -EAGAIN) {
			if (!wait)
				return false;
			os_poll(1, &waits.in);
			continue;
		}
		if (got == -EINTR)
			continue;
		if (got <= 0)
			panic("prompt: nobody asks any more");
		data += got;
		len -= got;
		/* Who has begun to say something says all of it. */
		wait = true;
	}
	return true;
}

static bool etherport_prompt_line(char *line, bool wait)
{
	size_t len = 0;

	while (etherport_prompt_read(line + len, 1, wait || len)) {
		if (line[len] == '\n') {
			line[len] = '\0';
			return true;
		}
		if (++len == ETHERPORT_PROMPT_LINE_LEN)
			panic("prompt: the host says too long a line");
	}
	return false;
}

/* As the recorder has it. Reading the clock costs a process time, unless it is uninterruptible. */
static u64 etherport_prompt_now_ns(void)
{
	unsigned long flags;
	u64 now_ns;

	local_irq_save(flags);
	now_ns = ktime_get_ns();
	local_irq_restore(flags);
	return now_ns;
}

void etherport_prompt_print(const char *format, ...)
{
	va_list args;

	if (ETHERPORT_PROMPT_SHOWN_LEN - waits.shown_len < ETHERPORT_PROMPT_LINE_LEN) {
		etherport_prompt_say("shows %zu\n", waits.shown_len);
		etherport_prompt_write(waits.shown, waits.shown_len);
		waits.shown_len = 0;
	}
	va_start(args, format);
	waits.shown_len += vscnprintf(waits.shown + waits.shown_len,
				      ETHERPORT_PROMPT_SHOWN_LEN - waits.shown_len, format, args);
	va_end(args);
}

static void etherport_prompt_show(void)
{
	waits.shown_len = 0;
	waits.calls->show();
	etherport_prompt_say("shows %zu\n", waits.shown_len);
	etherport_prompt_write(waits.shown, waits.shown_len);
	etherport_prompt_say("shown\n");
}

/* What follows is for the process. */
static void etherport_prompt_tell(size_t len)
{
	if (!len || len > ETHERPORT_PROMPT_TOLD_MAX - waits.told_len)
		panic("prompt: the host says too much");
	etherport_prompt_read(waits.told + waits.told_len, len, true);
	waits.told_len += len;
	wake_up_interruptible(&etherport_prompt_readers);
}

/* The process ends what it does when it is told to. */
static void etherport_prompt_tell_to_stop(void)
{
	static const char word[] = "stop\n";
	size_t len = sizeof(word) - 1;

	if (len > ETHERPORT_PROMPT_TOLD_MAX - waits.told_len)
		return;
	memcpy(waits.told + waits.told_len, word, len);
	waits.told_len += len;
	wake_up_interruptible(&etherport_prompt_readers);
}

/* The lab stands, and nothing happens, until the host lets it go on. */
static void etherport_prompt_stand(const char *why)
{
	char line[ETHERPORT_PROMPT_LINE_LEN];
	u64 now_ns = etherport_prompt_now_ns();
	unsigned long long until_ns;
	int condition;
	size_t len;

	time_travel_del_event(&waits.look);
	time_travel_stop_at = ULLONG_MAX;
	etherport_prompt_watched = false;
	waits.calls->flush();
	etherport_prompt_say("stands %llu %s\n", now_ns, why);
	for (;;) {
		etherport_prompt_line(line, true);
		if (!strcmp(line, "show")) {
			etherport_prompt_show();
		} else if (sscanf(line, "tell %zu", &len) == 1) {
			waits.running = false;
			etherport_prompt_tell(len);
			break;
		} else if (sscanf(line, "run %llu %n", &until_ns, &condition) == 1 &&
			   etherport_condition_read(&waits.condition, line + condition)) {
			etherport_prompt_watched = waits.condition.what != ETHERPORT_NOTHING;
			waits.running = true;
			waits.why = "time";
			if (until_ns)
				time_travel_stop_at = time_travel_now() +
						      max(until_ns, now_ns) - now_ns;
			break;
		} else if (strcmp(line, "stop")) {
			panic("prompt: the host says '%s'", line);
		}
	}
	time_travel_add_event_rel(&waits.look, ETHERPORT_PROMPT_LOOK_NS);
}

static void etherport_prompt_over(void)
{
	etherport_prompt_stand(waits.why);
}

/* Whether the host has said something meanwhile. */
static void etherport_prompt_look(struct time_travel_event *event)
{
	char line[ETHERPORT_PROMPT_LINE_LEN];

	while (etherport_prompt_line(line, false)) {
		if (strcmp(line, "stop"))
			panic("prompt: the host says '%s'", line);
		if (waits.running) {
			waits.why = "stopped";
			time_travel_stop_at = time_travel_now();
		} else {
			etherport_prompt_tell_to_stop();
		}
	}
	time_travel_add_event_rel(&waits.look, ETHERPORT_PROMPT_LOOK_NS);
}

/* Something is recorded. If it is what the host waits for, the lab stands when this instant is over. */
void etherport_prompt_see(const struct etherport *port, u8 kind, const void *data)
{
	if (!etherport_condition_holds(&waits.condition, port, kind, data))
		return;
	etherport_prompt_watched = false;
	waits.why = "seen";
	time_travel_stop_at = time_travel_now();
}

static ssize_t etherport_prompt_device_read(struct file *file, char __user *data, size_t len,
					    loff_t *place)
{
	ssize_t told = min(len, waits.told_len);

	if (!told)
		return -EAGAIN;
	if (copy_to_user(data, waits.told, told))
		return -EFAULT;
	waits.told_len -= told;
	memmove(waits.told, waits.told + told, waits.told_len);
	return told;
}

static ssize_t etherport_prompt_device_write(struct file *file, const char __user *data,
					     size_t len, loff_t *place)
{
	void *said;

	len = min_t(size_t, len, ETHERPORT_PROMPT_SAID_MAX);
	said = memdup_user(data, len);
	if (IS_ERR(said))
		return PTR_ERR(said);
	etherport_prompt_say("says %zu\n", len);
	etherport_prompt_write(said, len);
	kfree(said);
	return len;
}

static __poll_t etherport_prompt_device_poll(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &etherport_prompt_readers, table);
	return EPOLLOUT | (waits.told_len ? EPOLLIN : 0);
}

static long etherport_prompt_device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	if (command != ETHERPORT_PROMPT_STAND)
		return -ENOTTY;
	etherport_prompt_stand("done");
	return 0;
}

static const struct file_operations etherport_prompt_operations = {
	.owner		= THIS_MODULE,
	.read		= etherport_prompt_device_read,
	.write		= etherport_prompt_device_write,
	.poll		= etherport_prompt_device_poll,
	.unlocked_ioctl	= etherport_prompt_device_ioctl,
};

static struct miscdevice etherport_prompt_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= ETHERPORT_PROMPT_NAME,
	.fops	= &etherport_prompt_operations,
	.mode	= 0600,
};

static int __init etherport_prompt_option(char *value, int *add)
{
	*add = 0;
	prompt = value;
	return 0;
}

__uml_setup("prompt=", etherport_prompt_option,
	    "prompt=<descriptor>,<descriptor>\n"
	    "    Stand still where the host says so, which is heard and answered there.\n\n");

int __init etherport_prompt_setup(const struct etherport_prompt_calls *calls)
{
	if (!prompt)
		return 0;
	if (sscanf(prompt, "%d,%d", &waits.in, &waits.out) != 2 ||
	    os_set_fd_block(waits.in, 0) < 0) {
		pr_err("etherport: prompt= are no descriptors\n");
		return -EINVAL;
	}
	waits.calls = calls;
	time_travel_set_event_fn(&waits.look, etherport_prompt_look);
	time_travel_stop = etherport_prompt_over;
	waits.told = kvmalloc(ETHERPORT_PROMPT_TOLD_MAX, GFP_KERNEL);
	waits.shown = kvmalloc(ETHERPORT_PROMPT_SHOWN_LEN, GFP_KERNEL);
	if (!waits.told || !waits.shown)
		return -ENOMEM;
	return misc_register(&etherport_prompt_device);
}
