// SPDX-License-Identifier: GPL-2.0-only
/* Finds the kernel's mapping of all memory by a page of this process. */
#include "user_pages.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <bpf/bpf.h>

#include "cleanup.h"
#include "log.h"

uint64_t user_pages__ram_end(FILE *iomem)
{
	uint64_t start, end, most = 0;
	char line[256], rest[32];

	while (fgets(line, sizeof(line), iomem))
		if (sscanf(line, " %" SCNx64 "-%" SCNx64 " : %31[^\n]", &start, &end, rest) == 3 &&
		    !strcmp(rest, "System RAM") && end > most)
			most = end;
	return most ? most + 1 : 0;
}

static uint64_t ram_end(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/iomem", "re");

	return f ? user_pages__ram_end(f) : 0;
}

void user_pages__find(int prog, struct wire_page_search *search, struct wire_pages *pages)
{
	_Alignas(WIRE_PAGE_WORDS * 8) uint64_t word[WIRE_PAGE_WORDS];
	LIBBPF_OPTS(bpf_test_run_opts, run);

	search->end = ram_end();
	if (getrandom(word, sizeof(word), 0) != sizeof(word))
		return;
	memcpy(search->word, word, sizeof(word));
	search->addr = (uintptr_t)word;
	/* the task's page tables are somewhere in the RAM */
	for (search->below = 0; search->below <= search->end >> 30 && !pages->base; search->below++)
		if (bpf_prog_test_run_opts(prog, &run))
			return;
	if (!pages->base)
		log_debug("the kernel's mapping of all memory is unknown: user memory is copied");
}
