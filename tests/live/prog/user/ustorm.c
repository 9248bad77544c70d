// SPDX-License-Identifier: GPL-2.0-only
/*
 * ustorm DIRECTORY SECONDS RATE TEMPLATE...: runs RATE short programs per second in sequence,
 * sixteen different ones in turn.  Each is replaced by another one with a new tag every so often:
 * renamed over, or removed and created again.  DIRECTORY/list has the tags, DIRECTORY/kept the
 * copies.  Prints how many programs it ran.
 */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../prog.h"
#include "tag.h"

#define SLOTS 16
#define RUNS 400 /* of one file before it is replaced */
#define FIRST_TAG 10000

static const char *dir;
static char **templates;
static unsigned int nr_templates, next_tag = FIRST_TAG;
static FILE *list;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void write_tagged(const char *template, const char *path, unsigned int tag)
{
	int rc = tag__write(template, path, tag);

	if (rc)
		errx(1, "%s: %s", path, strerror(-rc));
}

static void replace(unsigned int slot)
{
	unsigned int tag = next_tag++;
	const char *template = templates[tag % nr_templates];
	char path[PATH_MAX], other[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kept/%u", dir, tag);
	write_tagged(template, path, tag);
	fprintf(list, "%u %s\n", tag, path);
	snprintf(path, sizeof(path), "%s/us_%u", dir, slot);
	snprintf(other, sizeof(other), "%s/new", dir);
	if (tag & 1) {
		write_tagged(template, other, tag);
		if (rename(other, path))
			err(1, "rename");
		return;
	}
	unlink(path);
	write_tagged(template, path, tag);
}

static void run(unsigned int slot)
{
	char path[PATH_MAX], *argv[] = { path, NULL }, *envp[] = { NULL };
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/us_%u", dir, slot);
	errno = posix_spawn(&pid, path, NULL, NULL, argv, envp);
	if (errno)
		err(1, "run '%s'", path);
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s ended with %d", path, status);
}

int main(int argc, char **argv)
{
	unsigned long seconds = arg_number(argc, argv, 2, 10, 3600);
	unsigned long rate = arg_number(argc, argv, 3, 2000, 1000000), n = 0;
	char path[PATH_MAX];
	double begin;

	if (argc < 5)
		errx(2, "usage: ustorm DIRECTORY SECONDS RATE TEMPLATE...");
	dir = argv[1];
	templates = argv + 4;
	nr_templates = argc - 4;
	snprintf(path, sizeof(path), "%s/kept", dir);
	if (mkdir(path, 0755))
		err(1, "mkdir '%s'", path);
	snprintf(path, sizeof(path), "%s/list", dir);
	list = fopen(path, "we");
	if (!list)
		err(1, "open '%s'", path);
	for (unsigned int s = 0; s < SLOTS; s++)
		replace(s);
	for (begin = now(); now() < begin + (double)seconds;) {
		if ((double)n > (now() - begin) * (double)rate) {
			usleep(200);
			continue;
		}
		if (n % RUNS == RUNS - 1)
			replace(n / RUNS % SLOTS);
		run(n % SLOTS);
		n++;
	}
	if (fclose(list))
		err(1, "write the list");
	printf("programs %lu\nper_second %.0f\n", n, (double)n / (now() - begin));
	return 0;
}
