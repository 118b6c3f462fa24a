// SPDX-License-Identifier: GPL-2.0-only
/*
 * Things that happen at an instant: a frame has left, a pause is over.
 *
 * They are events of virtual time itself. An hrtimer would end there too, by way
 * of the clock event device, its interrupt and a second queue; a lab has some
 * hundred thousand of these a second, and nothing costs it more.
 *
 * Virtual time moves, and an event fires, while the CPU is idle or when a process
 * reads the clock; never in a softirq. What is due is then done in softirq
 * context, like everything that moves frames: at once where the CPU is idle, by a
 * tasklet where it interrupts a process.
 */
#include <linux/interrupt.h>

#include "etherport.h"

static LIST_HEAD(etherport_due);

static void etherport_run_due(struct tasklet_struct *tasklet)
{
	struct etherport_event *event;

	while ((event = list_first_entry_or_null(&etherport_due, struct etherport_event, due))) {
		list_del_init(&event->due);
		event->fn(event);
	}
}

static DECLARE_TASKLET(etherport_tasklet, etherport_run_due);

static void etherport_event_fire(struct time_travel_event *tt)
{
	struct etherport_event *event = container_of(tt, struct etherport_event, tt);

	list_add_tail(&event->due, &etherport_due);
	tasklet_hi_schedule(&etherport_tasklet);
}

static void etherport_event_bh(struct time_travel_event *tt)
{
	struct etherport_event *event = container_of(tt, struct etherport_event, tt);

	event->fn(event);
}

void etherport_event_init(struct etherport_event *event,
			  void (*fn)(struct etherport_event *event))
{
	memset(event, 0, sizeof(*event));
	INIT_LIST_HEAD(&event->due);
	event->fn = fn;
	time_travel_set_event_fn(&event->tt, etherport_event_fire);
	event->tt.bh = etherport_event_bh;
}

bool etherport_event_pending(const struct etherport_event *event)
{
	return event->tt.pending || !list_empty(&event->due);
}

/* (Re)start: the event is to happen at ``when_ps``; at once if that is past. */
void etherport_event_at(struct etherport_event *event, u64 when_ps, u64 now_ps)
{
	u64 delay_ps = when_ps > now_ps ? when_ps - now_ps : 0;

	etherport_event_cancel(event);
	time_travel_add_event_rel(&event->tt, DIV_ROUND_UP_ULL(delay_ps, 1000));
}

void etherport_event_cancel(struct etherport_event *event)
{
	time_travel_del_event(&event->tt);
	list_del_init(&event->due);
}
