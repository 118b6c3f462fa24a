// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run may go on until, looked at whenever something is recorded. The host
 * words it so:
 *
 *   none
 *   at <kind> <port>				something of a kind is recorded,
 *						see record.h; 0: of any
 *   fill <kind> <port> <what> <op> <n>		the same, with so many "bytes"
 *						or "frames"
 *   tcp <port> <remote port> <figure> <op> <n>	the end of a connection has come
 *						so far
 *
 * where <port> of a frame is an interface, or "*" for any, and <op> is "<" or ">".
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "etherport.h"
#include "condition.h"

#define ETHERPORT_CONDITION_WORD_LEN	16

static const struct {
	const char *name;
	size_t offset;
} etherport_tcp_figures[] = {
	{ "cwnd", offsetof(struct etherport_record_tcp, cwnd_frames) },
	{ "ssthresh", offsetof(struct etherport_record_tcp, ssthresh_frames) },
	{ "in_flight", offsetof(struct etherport_record_tcp, in_flight_frames) },
	{ "lost", offsetof(struct etherport_record_tcp, lost_frames) },
	{ "retransmits", offsetof(struct etherport_record_tcp, retransmissions) },
	{ "srtt_8us", offsetof(struct etherport_record_tcp, srtt_us) },
	{ "rto_us", offsetof(struct etherport_record_tcp, rto_us) },
	{ "state", offsetof(struct etherport_record_tcp, state) },
};

static bool etherport_condition_of_tcp(struct etherport_condition *condition, const char *name)
{
	size_t i;

	condition->what = ETHERPORT_TCP;
	condition->kind = ETHERPORT_RECORD_TCP;
	strscpy(condition->port, "*", sizeof(condition->port));
	for (i = 0; i < ARRAY_SIZE(etherport_tcp_figures); i++) {
		condition->figure = etherport_tcp_figures[i].offset;
		if (!strcmp(name, etherport_tcp_figures[i].name))
			return true;
	}
	return false;
}

static bool etherport_condition_of_fill(struct etherport_condition *condition, const char *what)
{
	condition->what = ETHERPORT_FILL;
	condition->figure = strcmp(what, "frames") ? offsetof(struct etherport_record_fill, bytes) :
						     offsetof(struct etherport_record_fill, frames);
	return true;
}

/* False: it is none. */
bool etherport_condition_read(struct etherport_condition *condition, const char *text)
{
	char what[ETHERPORT_CONDITION_WORD_LEN];

	condition->what = ETHERPORT_NOTHING;
	if (!strcmp(text, "none"))
		return true;
	if (sscanf(text, "at %u %15s", &condition->kind, condition->port) == 2) {
		condition->what = ETHERPORT_HAPPENS;
		return true;
	}
	if (sscanf(text, "fill %u %15s %15s %c %u", &condition->kind, condition->port, what,
		   &condition->op, &condition->than) == 5)
		return etherport_condition_of_fill(condition, what);
	return sscanf(text, "tcp %hu %hu %15s %c %u", &condition->local_port,
		      &condition->remote_port, what, &condition->op, &condition->than) == 5 &&
	       etherport_condition_of_tcp(condition, what);
}

static bool etherport_condition_met(const struct etherport_condition *condition, const void *data)
{
	u32 figure = *(const u32 *)(data + condition->figure);

	return condition->op == '<' ? figure < condition->than : figure > condition->than;
}

/* Whether what is recorded with ``data`` is what is waited for. */
bool etherport_condition_holds(const struct etherport_condition *condition,
			       const struct etherport *port, u8 kind, const void *data)
{
	const struct etherport_record_tcp *tcp = data;

	if (condition->kind && condition->kind != kind)
		return false;
	if (strcmp(condition->port, "*") && (!port || strcmp(condition->port, port->dev->name)))
		return false;
	switch (condition->what) {
	case ETHERPORT_FILL:
		return etherport_condition_met(condition, data);
	case ETHERPORT_TCP:
		return tcp->local_port == condition->local_port &&
		       tcp->remote_port == condition->remote_port &&
		       etherport_condition_met(condition, data);
	default:
		return condition->what == ETHERPORT_HAPPENS;
	}
}
