/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a trace.dat file as pages of the kernel's ring buffer, one section per CPU: see
 * kernel/trace/ring_buffer.c and the kernel's Documentation/trace/ring-buffer-design.rst.
 *
 * The sections of a file follow each other, so pages wait in a temporary file in the order in which
 * they were filled.  In memory there is one chunk of pages per CPU.
 */
#ifndef EXPORT_TRACE_DAT_PAGES_H
#define EXPORT_TRACE_DAT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

#define TRACE_DAT_PAGE_HEAD 16 /* bytes: the time, and the length of the data with flags */
#define TRACE_DAT_PAGE_MIN 4096 /* the size of pages, unless an entry is larger */

struct output;

struct trace_dat_cpu {
	char *chunk; /* pages; NULL: none yet */
	uint32_t cap; /* of the chunk */
	uint32_t page_size; /* of its pages */
	uint32_t page_at; /* where the last one begins */
	uint32_t len; /* of what is in the chunk; page_at: no page has been begun there */
	uint64_t last_ts;
	uint64_t first_chunk, last_chunk; /* in the temporary file; 0: none */
	uint64_t nr_pages;
	uint64_t nr_events, nr_lost; /* for statistics; events lost in unknown number count as 1 */
	uint64_t lost; /* events since the last page */
	bool is_lost, lost_unknown; /* there are such, their number is unknown */
	uint64_t page_lost; /* of the page that has been begun: what its end says */
	bool page_is_lost;
};

struct trace_dat_pages {
	struct stk_reader *reader; /* whose budget pays, borrowed */
	const struct output *output; /* borrowed */
	int fd; /* of the temporary file; -1: none yet */
	uint64_t end; /* of the temporary file */
	uint32_t page_size; /* grows to that of the largest entry */
	struct trace_dat_cpu *cpus;
	uint32_t nr_cpus; /* room for so many */
	uint32_t nr_used; /* the number of the last CPU with events, plus 1 */
	bool lost_anywhere; /* events, on CPUs that are unknown */
	uint64_t nr_back; /* entries that are older than the one before */
	uint64_t memory; /* charged */
};

/* All functions that return int return 0 or a negative errno, after a message. */

/*
 * Adds an entry of len bytes to a CPU; *ret_data, valid until the next call, is to be filled by the
 * caller and ends with zeros up to a multiple of 4.  -ENOBUFS, without a message: the recording
 * demands too much.
 */
int trace_dat_pages__add(struct trace_dat_pages *p, uint32_t cpu, uint64_t ts, size_t len,
			 char **ret_data);
/* Events were lost before the next one of the CPU, or of any CPU; count 0: in unknown number. */
int trace_dat_pages__lost(struct trace_dat_pages *p, uint32_t cpu, uint64_t count);
/* To be called when all is added; then the sizes of sections are known. */
void trace_dat_pages__finish(struct trace_dat_pages *p);
uint64_t trace_dat_pages__section_size(const struct trace_dat_pages *p, uint32_t cpu);
/* Writes the section of a CPU to the output; errors are not logged. */
int trace_dat_pages__write(const struct trace_dat_pages *p, uint32_t cpu);
void trace_dat_pages__clear(struct trace_dat_pages *p);

#endif /* EXPORT_TRACE_DAT_PAGES_H */
