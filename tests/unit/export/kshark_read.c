// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints what KernelShark's library reads from a file, an object of JSON per entry:
 *   kshark_read FILE
 * Bytes of strings that are not printable ASCII are \u00NN.
 */
#include <kernelshark/libkshark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_string(const char *key, char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	printf(",\"%s\":\"", key);
	for (; p && *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			printf("\\u%04x", *p);
		else
			putchar(*p);
	putchar('"');
	free(s);
}

static void put_numbers(const struct kshark_entry *e)
{
	char **names = NULL;
	int i, nr = kshark_get_all_event_field_names(e, &names);
	const char *comma = "";
	int64_t value;

	printf(",\"numbers\":{");
	for (i = 0; i < nr; i++) {
		if (kshark_get_event_field_type(e, names[i]) == KS_INTEGER_FIELD &&
		    !kshark_read_event_field_int(e, names[i], &value)) {
			printf("%s\"%s\":%" PRId64, comma, names[i], value);
			comma = ",";
		}
		free(names[i]);
	}
	printf("}");
	free(names);
}

static void put_entry(const struct kshark_entry *e)
{
	printf("{\"cpu\":%d,\"ts\":%" PRId64, e->cpu, e->ts);
	if (e->event_id == KS_EVENT_OVERFLOW) {
		printf(",\"lost\":%" PRId64 "}\n", e->offset);
		return;
	}
	printf(",\"pid\":%d", e->pid);
	put_string("task", kshark_get_task(e));
	put_string("event", kshark_get_event_name(e));
	put_string("info", kshark_get_info(e));
	put_numbers(e);
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct kshark_context *kshark = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t i, nr = -1;
	int stream;

	if (argc != 2 || !kshark_instance(&kshark))
		return 2;
	stream = kshark_open(kshark, argv[1]);
	if (stream >= 0)
		nr = kshark_load_entries(kshark, stream, &entries);
	if (nr < 0) {
		fprintf(stderr, "kshark_read: cannot read '%s': %d\n", argv[1],
			stream < 0 ? stream : (int)nr);
		return 1;
	}
	for (i = 0; i < nr; i++) {
		put_entry(entries[i]);
		free(entries[i]);
	}
	free(entries);
	kshark_close(kshark, stream);
	kshark_free(kshark);
	return 0;
}
