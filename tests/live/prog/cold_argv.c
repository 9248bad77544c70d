// SPDX-License-Identifier: GPL-2.0-only
/*
 * cold_argv FILE: writes a word into FILE and executes true(1) with the arguments "true", that
 * word, which is not in memory at the call, and "last".
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "prog.h"

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	char *word = MAP_FAILED;

	if (fd >= 0 && write(fd, "middle", 7) == 7)
		word = mmap(NULL, 7, PROT_READ, MAP_PRIVATE, fd, 0);
	if (word == MAP_FAILED)
		err(1, "map %s", argc == 2 ? argv[1] : "FILE");
	execl("/bin/true", "true", word, "last", NULL);
	err(1, "execute /bin/true");
}
