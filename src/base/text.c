// SPDX-License-Identifier: GPL-2.0-only
/* Human-readable numbers, durations and sizes; widths. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "clock.h"

struct text text__number(uint64_t v)
{
	struct text t;
	char *to = t.s + sizeof(t.s);
	int n = 0;

	*--to = '\0';
	do {
		if (n && n % 3 == 0)
			*--to = ',';
		*--to = '0' + v % 10;
		v /= 10;
		n++;
	} while (v);
	memmove(t.s, to, t.s + sizeof(t.s) - to);
	return t;
}

struct text text__ns(unsigned __int128 ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	struct text t;
	unsigned int i;
	double d;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		d = ns / units[i].ns;
		/* 999.6 us is 1.00 ms in three digits */
		if (d < 0.9995)
			continue;
		snprintf(t.s, sizeof(t.s), "%.*f %s", d < 9.995 ? 2 : d < 99.95, d, units[i].name);
		return t;
	}
	snprintf(t.s, sizeof(t.s), "%u ns", (unsigned int)ns);
	return t;
}

struct text text__time(uint64_t ns)
{
	uint64_t us = ns_to_us(ns);
	struct text t;

	snprintf(t.s, sizeof(t.s), "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
	return t;
}

struct text text__bytes(uint64_t v)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
	double d = v;
	struct text t;
	unsigned int i = 0;

	for (; d >= 1000 && i < ARRAY_SIZE(units) - 1; i++)
		d /= 1000;
	snprintf(t.s, sizeof(t.s), "%.*f %s", i ? 2 : 0, d, units[i]);
	return t;
}

struct text text__count(uint64_t nr, const char *noun)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.27s %s%s", text__number(nr).s, noun, nr == 1 ? "" : "s");
	return t;
}

size_t text__byte(const char *s, char *ret_byte)
{
	uint8_t byte;

	if (s[0] == '\\' && s[1] == 'x' && text__hex_bytes(s + 2, &byte, 1)) {
		*ret_byte = (char)byte;
		return strlen("\\x00");
	}
	*ret_byte = *s;
	return 1;
}

size_t text__fit(const char *s, size_t len, unsigned int columns)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		nr += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (nr > columns)
			break;
	}
	return i;
}

uint32_t text__hex_bytes(const char *text, uint8_t *ret_bytes, uint32_t max)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t n = 0;

	for (; n < max && text[2 * n] && text[2 * n + 1]; n++) {
		const char *high = strchr(digits, text[2 * n]);
		const char *low = strchr(digits, text[2 * n + 1]);

		if (!high || !low)
			break;
		ret_bytes[n] = (high - digits) << 4 | (low - digits);
	}
	return n;
}
