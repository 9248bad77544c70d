// SPDX-License-Identifier: GPL-2.0-only
/* Reads the notes of USDT probes. */
#include "usdt_notes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "elf_file.h"

#define NOTE_TYPE 3
#define NOTE_NAME "stapsdt"
#define MAX_NAME 128 /* of provider or probe */
#define MAX_NOTES (1u << 20)

struct usdt_notes {
	char *data; /* the section, which holds the names */
	struct usdt_note *v;
	size_t nr, cap, bad;
};

/* The addresses before the strings. */
struct note_addresses {
	uint64_t pc, base, semaphore;
};

static int notes_add(struct usdt_notes *n, const struct usdt_note *note)
{
	if (n->nr == MAX_NOTES)
		return -EFBIG;
	if (array__grow(&n->v, n->nr, &n->cap))
		return -ENOMEM;
	n->v[n->nr++] = *note;
	return 0;
}

/* The string at *pos, which is moved past it; NULL: unterminated. */
static const char *next_string(const char **pos, const char *end)
{
	const char *s = *pos, *nul = memchr(s, '\0', end - s);

	if (!nul)
		return NULL;
	*pos = nul + 1;
	return s;
}

static bool is_name(const char *s)
{
	size_t len = strnlen(s, MAX_NAME);

	if (!len || len == MAX_NAME)
		return false;
	for (; *s; s++)
		if (!isgraph((unsigned char)*s) || *s == ':')
			return false;
	return true;
}

/*
 * base: address of .stapsdt.base, or 0.  prelink(8) or a linker may move it together with the code,
 * while the addresses in the notes stay.
 */
static bool parse_note(const struct elf_file *f, uint64_t base, const char *desc, size_t len,
		       struct usdt_note *ret_note)
{
	const char *pos = desc + sizeof(struct note_addresses), *end = desc + len;
	struct note_addresses at;
	uint64_t code_end;

	if (len < sizeof(at))
		return false;
	memcpy(&at, desc, sizeof(at));
	ret_note->provider = next_string(&pos, end);
	ret_note->name = ret_note->provider ? next_string(&pos, end) : NULL;
	ret_note->args = ret_note->name ? next_string(&pos, end) : NULL;
	if (!ret_note->args || !is_name(ret_note->provider) || !is_name(ret_note->name))
		return false;
	if (base && at.base)
		at.pc += base - at.base;
	return elf_file__code_offset(f, at.pc, &ret_note->offset, &code_end);
}

static int parse_notes(struct usdt_notes *n, const struct elf_file *f, uint64_t base, size_t len)
{
	size_t at = 0;
	int err = 0;

	while (len - at >= sizeof(Elf64_Nhdr) && !err) {
		struct usdt_note note;
		uint64_t name, desc;
		Elf64_Nhdr head;

		memcpy(&head, n->data + at, sizeof(head));
		name = at + sizeof(head);
		desc = name + (((uint64_t)head.n_namesz + 3) & ~3ULL);
		if (desc > len || head.n_descsz > len - desc) {
			n->bad++;
			break;
		}
		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof(NOTE_NAME) &&
		    !memcmp(n->data + name, NOTE_NAME, sizeof(NOTE_NAME))) {
			if (parse_note(f, base, n->data + desc, head.n_descsz, &note))
				err = notes_add(n, &note);
			else
				n->bad++;
		}
		at = MIN(desc + (((uint64_t)head.n_descsz + 3) & ~3ULL), (uint64_t)len);
	}
	return err;
}

static int compare(const void *pa, const void *pb)
{
	const struct usdt_note *a = pa, *b = pb;
	int order = strcmp(a->provider, b->provider);

	if (!order)
		order = strcmp(a->name, b->name);
	if (order)
		return order;
	return CMP(a->offset, b->offset);
}

static int load(struct elf_file *f, struct usdt_notes *n)
{
	const Elf64_Shdr *section, *base;
	int err = elf_file__load_sections(f);

	if (err)
		return err;
	section = elf_file__section(f, ".note.stapsdt");
	base = elf_file__section(f, ".stapsdt.base");
	if (!section || section->sh_type != SHT_NOTE || !f->is64)
		return -ENOENT;
	err = elf_file__load(f, section->sh_offset, section->sh_size, &n->data);
	if (!err)
		err = parse_notes(n, f, base ? base->sh_addr : 0, section->sh_size);
	if (!err && !n->nr)
		err = -ENOENT;
	if (!err)
		qsort(n->v, n->nr, sizeof(*n->v), compare);
	return err;
}

static int notes_new(struct elf_file *f, struct usdt_notes **ret_notes)
{
	struct usdt_notes *n = calloc(1, sizeof(*n));
	int err = n ? load(f, n) : -ENOMEM;

	elf_file__done(f);
	if (err)
		usdt_notes__free(n);
	else
		*ret_notes = n;
	return err;
}

int usdt_notes__from_fd(int fd, struct usdt_notes **ret_notes)
{
	struct elf_file f;
	int err = elf_file__from_fd(fd, &f);

	return err ?: notes_new(&f, ret_notes);
}

int usdt_notes__from_image(const void *image, size_t len, struct usdt_notes **ret_notes)
{
	struct elf_file f;
	int err = elf_file__from_image(image, len, &f);

	return err ?: notes_new(&f, ret_notes);
}

void usdt_notes__free(struct usdt_notes *n)
{
	if (!n)
		return;
	free(n->data);
	free(n->v);
	free(n);
}

size_t usdt_notes__nr(const struct usdt_notes *n)
{
	return n->nr;
}

void usdt_notes__get(const struct usdt_notes *n, size_t i, struct usdt_note *ret_note)
{
	*ret_note = n->v[i];
}

size_t usdt_notes__bad(const struct usdt_notes *n)
{
	return n->bad;
}

/* "-4@", "8f@", or no such prefix */
static void parse_size(const char *s, size_t len, struct usdt_arg *ret_arg)
{
	bool is_signed = len && *s == '-';
	size_t at = is_signed, digit = at;

	*ret_arg = (struct usdt_arg){ .size = 8 };
	if (at >= len || !strchr("1248", s[at]))
		return;
	at++;
	if (at < len && s[at] == 'f') {
		ret_arg->is_float = true;
		at++;
	}
	if (at >= len || s[at] != '@') {
		ret_arg->is_float = false;
		return;
	}
	ret_arg->size = s[digit] - '0';
	ret_arg->is_signed = is_signed;
}

unsigned int usdt_args__parse(const char *args, struct usdt_arg ret_args[USDT_MAX_ARGS])
{
	unsigned int nr = 0;

	while (nr < USDT_MAX_ARGS) {
		size_t len;

		args += strspn(args, " \t");
		len = strcspn(args, " \t");
		if (!len)
			break;
		parse_size(args, len, &ret_args[nr++]);
		args += len;
	}
	return nr;
}
