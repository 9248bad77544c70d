// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols_at FILE [DEBUG_FILE]: for each offset (hex) on stdin, prints "OFFSET START SIZE NAME" or
 * "OFFSET -".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/usyms.h"

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	int debug_fd = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	struct elf_symbols *s;
	uint64_t offset;
	int err = elf_symbols__from_fd(fd, debug_fd, &s);

	if (err) {
		fprintf(stderr, "symbols_at: %s: %s\n", argc > 1 ? argv[1] : "no file",
			strerror(-err));
		return 1;
	}
	while (scanf("%" SCNx64, &offset) == 1) {
		struct elf_symbol symbol;

		if (elf_symbols__find(s, offset, &symbol))
			printf("%" PRIx64 " -\n", offset);
		else
			printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", offset, symbol.start,
			       symbol.size, symbol.name);
	}
	elf_symbols__free(s);
	return 0;
}
