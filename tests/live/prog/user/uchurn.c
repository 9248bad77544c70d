// SPDX-License-Identifier: GPL-2.0-only
/*
 * uchurn ROUNDS ANON A B C: runs the code of three tagged libraries of the same size at the same
 * address in turn: opened and closed, mapped over one another, moved, made writable in between, and
 * copied to anonymous memory (with the tag ANON).  Two threads do so, while a third one maps and
 * unmaps memory.  Prints how often a library was mapped where another one had been.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "../prog.h"
#include "loader.h"

#define NR_LIBRARIES 3
#define CALLS 3
#define PLACE 0x610000000000ULL

static char *paths[NR_LIBRARIES];
static unsigned long rounds, anonymous, same_place;
static volatile unsigned long sink;
static volatile bool over;

static __attribute__((noinline)) void use(loader_fn f)
{
	for (unsigned long i = 0; i < CALLS; i++)
		sink += f(i);
}

/* Notes that a library is at this address; true if another one has been there before. */
static bool was_of_another(uintptr_t address, unsigned int library)
{
	static struct {
		uintptr_t address;
		unsigned int libraries; /* bits */
	} places[64];
	unsigned int before;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i].address && places[i].address != address)
			continue;
		before = places[i].libraries;
		places[i].address = address;
		places[i].libraries |= 1u << library;
		return before & ~(1u << library);
	}
	return false;
}

/* The loader maps libraries of the same size at the same address. */
static __attribute__((noinline)) void by_loader(unsigned long n)
{
	loader_fn f;
	void *lib = dlopen(paths[n % NR_LIBRARIES], RTLD_NOW);

	if (!lib)
		errx(1, "%s", dlerror());
	*(void **)&f = dlsym(lib, "tag_enter");
	use(f);
	same_place += was_of_another((uintptr_t)f & ~4095ul, n % NR_LIBRARIES);
	dlclose(lib);
}

static __attribute__((noinline)) void by_hand(struct loader *libs, unsigned long n, char *place)
{
	struct loader *l = &libs[n % NR_LIBRARIES];
	char *elsewhere = place + 16 * LOADER_SPAN;

	use(loader__map(l, place));
	switch (n % 4) {
	case 0:
		loader__protect(l, place);
		use(loader__map(l, place));
		break;
	case 1:
		use(loader__move(l, place, elsewhere));
		break;
	case 2:
		use(loader__copy(l, place, anonymous));
		break;
	default:
		munmap(place, LOADER_SPAN);
		break;
	}
}

static void *work(void *arg)
{
	char *place = (char *)(PLACE + (uintptr_t)arg * 64 * LOADER_SPAN);
	struct loader libs[NR_LIBRARIES];

	for (unsigned int i = 0; i < NR_LIBRARIES; i++)
		loader__open(&libs[i], paths[i], paths[i]);
	for (unsigned long n = 0; n < rounds; n++) {
		if (!arg)
			by_loader(n);
		by_hand(libs, n, place);
	}
	return NULL;
}

static void *disturb(void *arg)
{
	while (!over) {
		void *p = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap((char *)p + 4096, 4096);
		munmap(p, 65536);
		usleep(50);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t second, third;

	if (argc != 3 + NR_LIBRARIES)
		errx(2, "usage: uchurn ROUNDS ANON A B C");
	rounds = arg_number(argc, argv, 1, 0, 1000000);
	anonymous = arg_number(argc, argv, 2, 0, 1u << 24);
	memcpy(paths, argv + 3, sizeof(paths));
	if (pthread_create(&second, NULL, work, (void *)1) ||
	    pthread_create(&third, NULL, disturb, NULL))
		errx(1, "pthread_create");
	work(NULL);
	pthread_join(second, NULL);
	over = true;
	pthread_join(third, NULL);
	printf("same_place %lu\n", same_place);
	return 0;
}
