/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the implementation of probe.h: one file per type of probe. */
#ifndef RECORD_PROBE_PRIV_H
#define RECORD_PROBE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "probe.h"
#include "wire.h"

/* A value after ip.  Values are in slots of 8 bytes, in this order. */
struct probe_field {
	char name[64];
	char type[128]; /* as in a tracefs format */
	unsigned int size; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_hex; /* pointers, and values of unknown type */
};
#define PROBE_MAX_FIELDS PROBE_USDT_ARGS

/* Fields "arg1", ... of unknown type. */
void probe_fields__unknown(struct probe_field *ret_fields, unsigned int first, unsigned int nr);

/* Adds an event; takes ownership of p's strings, even on failure.  name: without the system. */
int probe_events__add(struct probe_events *l, const char *name, struct probe *p,
		      const struct probe_field *fields, unsigned int nr);

/* 0 if nr more events fit, else -E2BIG, logged with spec. */
int probe_events__room(const struct probe_events *l, const char *spec, size_t nr);

bool probe__is_glob(const char *name);
/* The system of such events: "f", ... */
const char *probe__system(enum probe_how how);

/* rest: spec after "f:", ...; spec: for messages. */
int probe_function__resolve(const char *spec, enum probe_how how, const char *rest,
			    struct ksyms *syms, struct probe_events *l);
int probe_user__resolve(const char *spec, enum probe_how how, const char *rest,
			struct probe_events *l);
int probe_usdt__resolve(const char *spec, const char *rest, struct probe_events *l);

#endif /* RECORD_PROBE_PRIV_H */
