/* SPDX-License-Identifier: GPL-2.0-only */
/* The metadata of a CTF trace. */
#ifndef EXPORT_CTF_METADATA_H
#define EXPORT_CTF_METADATA_H

#include "ctf_event.h"
#include "ctf_stream.h"
#include "stackonce.h"

/* What begins the metadata of our traces, and of no others. */
#define CTF_SIGNATURE "/* CTF 1.8 */\n/* by stackonce */\n"

/* The latest time that readers can place: they have the ns since 1970 as signed numbers. */
uint64_t ctf_metadata__max_ts(const struct stk_reader *r);
/* Appends the TSDL; returns false if the wall clock of the recording is unknown. */
bool ctf_metadata__put(struct strbuf *b, const struct stk_reader *r,
		       const uint8_t uuid[CTF_UUID_SIZE], const struct ctf_classes *classes);

#endif /* EXPORT_CTF_METADATA_H */
