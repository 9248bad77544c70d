// SPDX-License-Identifier: GPL-2.0-only
/* truth_dl ARGS: truth's paths, from a library in the same directory that is opened at run time. */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "../prog.h"

int main(int argc, char **argv)
{
	int (*truth_main)(int, char **);
	char path[PATH_MAX];
	void *lib;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	int rc;

	if (n < 0)
		err(1, "readlink");
	path[n] = 0;
	strcpy(strrchr(path, '/') + 1, "libut_truth.so");
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		errx(1, "%s", dlerror());
	*(void **)&truth_main = dlsym(lib, "truth_main");
	if (!truth_main)
		errx(1, "%s", dlerror());
	rc = truth_main(argc, argv);
	__asm__ volatile("" : "+r"(rc));
	return rc;
}
