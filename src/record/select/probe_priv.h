/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of probe.h share: one file for each way to probe. */
#ifndef RECORD_PROBE_PRIV_H
#define RECORD_PROBE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "probe.h"
#include "wire.h"

/* A value behind ip; they lie in slots of 8 bytes, in this order. */
struct probe_field {
	char name[64];
	char type[128]; /* as in a tracefs format */
	unsigned int size; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_hex; /* pointers, and what nobody knows the type of */
};
#define PROBE_MAX_FIELDS PROBE_USDT_ARGS

/* "arg1" ... in registers whose types are not known. */
void probe_fields__unknown(struct probe_field *ret_fields, unsigned int first, unsigned int nr);

/* Adds an event and takes what p holds, also on failure.  name: without the system. */
int probe_events__add(struct probe_events *l, const char *name, struct probe *p,
		      const struct probe_field *fields, unsigned int nr);

/* May nr more be added?  -E2BIG after a message about spec. */
int probe_events__room(const struct probe_events *l, const char *spec, size_t nr);

bool probe__is_glob(const char *name);
/* The system of events probed so: "f", ... */
const char *probe__system(enum probe_how how);

/* rest: what is behind "f:" ...; spec: for messages. */
int probe_function__resolve(const char *spec, enum probe_how how, const char *rest,
			    struct ksyms *syms, struct probe_events *l);
int probe_user__resolve(const char *spec, enum probe_how how, const char *rest,
			struct probe_events *l);
int probe_usdt__resolve(const char *spec, const char *rest, struct probe_events *l);

#endif /* RECORD_PROBE_PRIV_H */
