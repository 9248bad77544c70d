// SPDX-License-Identifier: GPL-2.0-only
/* Writes a reproducible recording of a kind, see recordings.h: make_recording KIND FILE */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "recordings.h"

static const struct kind {
	const char *name;
	void (*make)(const char *path);
} kinds[] = {
	{ "small", make_small },	 { "abrupt", make_abrupt },
	{ "empty", make_empty },	 { "long", make_long },
	{ "hostile", make_hostile },	 { "user-hostile", make_user_hostile },
	{ "aliases", make_aliases },	 { "losses", make_losses },
	{ "flags", make_flags },	 { "strings", make_strings },
	{ "user", make_user },		 { "guesses", make_guesses },
	{ "replaced", make_replaced },	 { "late-types", make_late_types },
	{ "addresses", make_addresses }, { "annotate", make_annotate },
	{ "profile", make_profile },	 { "latency", make_latency },
	{ "lifecycle", make_lifecycle }, { "zombies", make_zombies },
	{ "stalls", make_stalls },	 { "crowd", make_crowd },
	{ "wakers", make_wakers },	 { "selected", make_selected },
	{ "fleet", make_fleet },	 { "fleet-other", make_fleet_other },
};

static bool make(const char *name, const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name)) {
			kinds[i].make(path);
			return true;
		}
	}
	return make_diff(name, path);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: make_recording KIND FILE, or large FILE [EVENTS [STACKS]]");
	if (!strcmp(argv[1], "large"))
		make_large(argv[2], argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000,
			   argc > 4 ? strtoull(argv[4], NULL, 0) : 4000);
	else if (!make(argv[1], argv[2]))
		errx(2, "there is no kind '%s', see recordings.h", argv[1]);
	return 0;
}
