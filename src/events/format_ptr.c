/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The %p conversions that print memory, here memory of the record: addresses, masks, bytes.
 * Source: Documentation/core-api/printk-formats.rst.
 */
#include "format_priv.h"

#include "cleanup.h"

#include <ctype.h>

#define MEM_MAX 64 /* bytes that any of them reads, except %*pb */

struct mem {
	uint8_t b[MEM_MAX]; /* bytes missing in the record are 0 */
	const char *letters;
	size_t n;
};

static char letter(const struct mem *m, size_t i)
{
	return i < m->n ? m->letters[i] : '\0';
}

static bool has_letter(const struct mem *m, size_t from, char c)
{
	for (size_t i = from; i < m->n && isalpha((unsigned char)m->letters[i]); i++)
		if (m->letters[i] == c)
			return true;
	return false;
}

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* order: h and l mean the recorded machine's, others network order; zeros: three digits each */
static void print_ip4(struct strbuf *out, const uint8_t *addr, char order, bool zeros)
{
	bool swap = order == 'h' || order == 'l';

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int v = addr[swap ? 3 - i : i];

		if (i)
			strbuf__putc(out, '.');
		if (zeros && v < 100)
			strbuf__putc(out, '0');
		if (zeros && v < 10)
			strbuf__putc(out, '0');
		strbuf__u64(out, v);
	}
}

/* The longest run of at least two zero words, the first of several; -1: none. */
static int zero_run(const uint8_t *addr, int words, int *ret_len)
{
	int best = -1, longest = 1;

	for (int i = 0; i < words; i++) {
		int n = 0;

		while (i + n < words && !be16(addr + (i + n) * 2))
			n++;
		if (n > longest) {
			longest = n;
			best = i;
		}
	}
	*ret_len = longest;
	return best;
}

/* RFC 5952, with the IPv4 part of mapped and ISATAP addresses in dots */
static void print_ip6_short(struct strbuf *out, const uint8_t *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ip4 = !memcmp(addr, mapped, 12) || (be32(addr + 8) | 0x02000000) == 0x02005efe;
	int words = ip4 ? 6 : 8, len, run = zero_run(addr, words, &len);
	bool colon = false;

	for (int i = 0; i < words; i++) {
		if (i == run) {
			strbuf__add(out, "::", colon || !i ? 2 : 1);
			colon = false;
			i += len - 1;
			continue;
		}
		if (colon)
			strbuf__putc(out, ':');
		strbuf__hex(out, be16(addr + i * 2), 0);
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		strbuf__putc(out, ':');
	print_ip4(out, addr + 12, 'n', false);
}

static void print_ip6(struct strbuf *out, const uint8_t *addr, bool colons, bool shorten)
{
	if (colons && shorten) {
		print_ip6_short(out, addr);
		return;
	}
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			strbuf__putc(out, ':');
		strbuf__hex(out, be16(addr + i * 2), 4);
	}
}

static void print_sockaddr(struct strbuf *out, const struct mem *m)
{
	uint16_t family = value__load(m->b, 2, false);
	bool port = has_letter(m, 2, 'p'), flow = has_letter(m, 2, 'f');
	bool scope = has_letter(m, 2, 's'), brackets = port || flow || scope;
	char order = has_letter(m, 2, 'h') || has_letter(m, 2, 'l') ? 'l' : 'n';

	if (family == 2) {
		print_ip4(out, m->b + 4, order, letter(m, 0) == 'i');
	} else if (family == 10) {
		if (brackets)
			strbuf__putc(out, '[');
		print_ip6(out, m->b + 8, letter(m, 0) == 'I', has_letter(m, 2, 'c'));
		if (brackets)
			strbuf__putc(out, ']');
	} else {
		strbuf__puts(out, "(einval)");
		return;
	}
	if (port) {
		strbuf__putc(out, ':');
		strbuf__u64(out, be16(m->b + 2));
	}
	if (flow && family == 10) {
		strbuf__putc(out, '/');
		strbuf__u64(out, be32(m->b + 4) & 0x0fffffff);
	}
	if (scope && family == 10) {
		strbuf__putc(out, '%');
		strbuf__u64(out, value__load(m->b + 24, 4, false));
	}
}

static void print_ip(struct strbuf *out, const struct mem *m)
{
	switch (letter(m, 1)) {
	case '4':
		print_ip4(out, m->b, letter(m, 2), letter(m, 0) == 'i');
		break;
	case '6':
		print_ip6(out, m->b, letter(m, 0) == 'I', letter(m, 2) == 'c');
		break;
	default:
		print_sockaddr(out, m);
	}
}

static void print_mac(struct strbuf *out, const struct mem *m)
{
	bool reverse = letter(m, 1) == 'R';
	char separator = letter(m, 0) == 'm' ? 0 : letter(m, 1) == 'F' ? '-' : ':';

	for (int i = 0; i < 6; i++) {
		if (i && separator)
			strbuf__putc(out, separator);
		strbuf__hex(out, m->b[reverse ? 5 - i : i], 2);
	}
}

static void print_uuid(struct strbuf *out, const struct mem *m)
{
	static const uint8_t guid[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool little = letter(m, 1) == 'l' || letter(m, 1) == 'L';
	bool upper = letter(m, 1) == 'B' || letter(m, 1) == 'L';
	size_t start = out->len;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			strbuf__putc(out, '-');
		strbuf__hex(out, m->b[little ? guid[i] : i], 2);
	}
	for (size_t i = start; upper && !strbuf__failed(out) && i < out->len; i++)
		out->s[i] = toupper((unsigned char)out->s[i]);
}

/* %*ph: width bytes */
static void print_bytes(struct strbuf *out, const struct mem *m, int width)
{
	int n = width < 1 ? 1 : MIN(width, MEM_MAX);
	char c = letter(m, 1), separator = c == 'C' ? ':' : c == 'D' ? '-' : c == 'N' ? 0 : ' ';

	for (int i = 0; i < n && width; i++) {
		if (i && separator)
			strbuf__putc(out, separator);
		strbuf__hex(out, m->b[i], 2);
	}
}

/* %*pbl: width bits, as ranges */
static void print_bit_list(struct printer *p, uint64_t offset, uint64_t nr_bits)
{
	bool first = true;

	nr_bits = MIN(nr_bits, offset < p->len ? (p->len - offset) * 8 : 0);
	for (uint64_t i = 0, end; i < nr_bits && !printer__full(p); i = end + 1) {
		for (end = i; end < nr_bits && p->rec[offset + end / 8] >> end % 8 & 1; end++)
			;
		if (end == i)
			continue;
		if (!first)
			strbuf__putc(p->out, ',');
		first = false;
		strbuf__u64(p->out, i);
		if (end == i + 1)
			continue;
		strbuf__putc(p->out, '-');
		strbuf__u64(p->out, end - 1);
	}
}

bool mem_letters__known(const char *s, size_t n)
{
	if (!n)
		return false;
	if (*s == 'I' || *s == 'i')
		return n > 1 && strchr("46S", s[1]);
	if (*s == 'N')
		return n > 1 && s[1] == 'F';
	return strchr("MmUbha", *s);
}

void printer__mem(struct printer *p, uint64_t offset, const char *letters, size_t n,
		  const struct printf_spec *spec)
{
	struct mem m = { .letters = letters, .n = n };
	size_t start = p->out->len;

	if (offset < p->len)
		memcpy(m.b, p->rec + offset, MIN(p->len - offset, sizeof(m.b)));
	switch (*letters) {
	case 'b':
		if (letter(&m, 1) == 'l')
			print_bit_list(p, offset, MAX(spec->width, 0));
		else
			printer__bitmask(p, offset, MAX(spec->width, 0));
		return;
	case 'h':
		print_bytes(p->out, &m, spec->width);
		return;
	case 'I':
	case 'i':
		print_ip(p->out, &m);
		break;
	case 'M':
	case 'm':
		print_mac(p->out, &m);
		break;
	case 'U':
		print_uuid(p->out, &m);
		break;
	default: /* %pa, %pNF: 8 bytes */
		strbuf__puts(p->out, "0x");
		strbuf__hex(p->out, value__load(m.b, 8, false), 16);
		return;
	}
	printer__widen(p, start, spec);
}
