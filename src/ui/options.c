// SPDX-License-Identifier: GPL-2.0-only
/* getopt_long() without its abbreviations: a script must not break when an option is added. */
#include "ui.h"

#include <stdio.h>
#include <string.h>

/* The word of the command line that the option just returned was read from. */
static const char *option_word(int argc, char **argv)
{
	int i = optind - 1;

	if (optarg && i > 0 && optarg == argv[i])
		i--;
	return i > 0 && i < argc ? argv[i] : "";
}

static bool is_exact(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, "--", 2) && !strncmp(word + 2, name, len) &&
	       (word[2 + len] == '\0' || word[2 + len] == '=');
}

static int wrong_option(char **argv, int c, const char *word)
{
	if (optopt && !strchr("-", optopt) && strncmp(word, "--", 2)) {
		if (c == ':')
			cmd__usage_error(argv[0], "option '-%c' needs a value", optopt);
		else
			cmd__usage_error(argv[0], "unknown option '-%c'", optopt);
	} else if (c == ':') {
		cmd__usage_error(argv[0], "option '%s' needs a value", word);
	} else if (optopt) {
		cmd__usage_error(argv[0], "option '%s' takes no value", word);
	} else {
		cmd__usage_error(argv[0], "unknown option '%s'", word);
	}
	return '?';
}

int cmd__getopt(int argc, char **argv, const char *shortopts, const struct option *longopts)
{
	char opts[128];
	int index = -1, c;
	const char *word;
	bool plus = shortopts[0] == '+';

	/* The ':' in front tells a missing value from an unknown option. */
	snprintf(opts, sizeof(opts), "%s:%s", plus ? "+" : "", shortopts + plus);
	opterr = 0;
	optarg = NULL;
	c = getopt_long(argc, argv, opts, longopts, &index);
	if (c < 0)
		return -1;
	word = option_word(argc, argv);
	if (c == '?' || c == ':')
		return wrong_option(argv, c, word);
	if (index >= 0 && !is_exact(word, longopts[index].name)) {
		cmd__usage_error(argv[0], "unknown option '%s', did you mean '--%s'?", word,
				 longopts[index].name);
		return '?';
	}
	return c;
}

int cmd__number(const char *command, const char *option, const char *arg, uint64_t min,
		uint64_t max, uint64_t *ret_value)
{
	if (parse__u64(arg, min, max, ret_value))
		return cmd__usage_error(command, "%s wants a number: '%s'", option, arg);
	return CMD_OK;
}

int cmd__one_of(const char *command, const char *option, const char *arg, const char *const *words,
		unsigned int nr, unsigned int *ret_index)
{
	char all[128] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(words[i], arg)) {
			*ret_index = i;
			return CMD_OK;
		}
		len += snprintf(all + len, sizeof(all) - len, "%s%s",
				!i	   ? "" :
				i + 1 < nr ? ", " :
					     " or ",
				words[i]);
	}
	return cmd__usage_error(command, "%s wants %s: '%s'", option, all, arg);
}
