// SPDX-License-Identifier: GPL-2.0-only
/* Flame graphs: weights add up, the order of adding does not matter, names are escaped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "export/flamegraph.h"
#include "strbuf.h"

#define ROW 18

static const struct flame_text counted = { .title = "T", .subtitle = "S", .unit = "events" };

/* "a;b;c": user frames below a group */
static int add(struct flamegraph *f, const char *stack, uint64_t weight)
{
	_cleanup_free_ char *copy = strdup(stack);
	struct flame_frame frames[64];
	unsigned int nr = 0;
	char *one, *rest = copy;

	while ((one = strsep(&rest, ";"))) {
		frames[nr] =
			(struct flame_frame){ .name = one, .kind = nr ? FLAME_USER : FLAME_GROUP };
		nr++;
	}
	return flamegraph__add(f, frames, nr, weight);
}

static struct flamegraph *new_flames(void)
{
	struct flamegraph *f = NULL;

	assert_int_equal(flamegraph__new(&f), 0);
	return f;
}

static void folded_is(const struct flamegraph *f, const char *want)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	flamegraph__folded(f, &b);
	assert_false(strbuf__failed(&b));
	assert_string_equal(b.s ?: "", want);
}

static void svg_of(const struct flamegraph *f, const struct flame_text *text,
		   struct strbuf *ret_svg)
{
	flamegraph__svg(f, text, ret_svg);
	assert_false(strbuf__failed(ret_svg));
}

static void test_folded(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	static const struct flame_frame kinds[] = {
		{ .name = "g", .where = NULL, .kind = FLAME_GROUP },
		{ .name = "u", .where = "libc.so.6", .kind = FLAME_USER },
		{ .name = "i", .where = "libc.so.6", .kind = FLAME_INLINED },
		{ .name = "k", .where = "ext4", .kind = FLAME_KERNEL }
	};

	folded_is(f, "");
	assert_int_equal(add(f, "b;x", 2), 0);
	assert_int_equal(add(f, "a;x;y", 3), 0);
	assert_int_equal(add(f, "a;x", 5), 0);
	assert_int_equal(add(f, "a;x;y", 4), 0);
	assert_int_equal(add(f, "c", 0), 0);
	assert_int_equal(flamegraph__add(f, kinds, 4, 7), 0);
	assert_int_equal(flamegraph__total(f), 21);
	folded_is(f, "a;x 5\na;x;y 7\nb;x 2\ng;u;i_[i];k_[k] 7\n");
}

/* Functions of the same name in two files are two boxes, but one line of folded text. */
static void test_same_name(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	struct flame_frame one = { .name = "main", .where = "cat", .kind = FLAME_USER },
			   two = { .name = "main", .where = "ls", .kind = FLAME_USER };
	_cleanup_(strbuf__free) struct strbuf svg = { 0 };

	assert_int_equal(flamegraph__add(f, &one, 1, 2), 0);
	assert_int_equal(flamegraph__add(f, &two, 1, 3), 0);
	folded_is(f, "main 5\n");
	svg_of(f, &counted, &svg);
	assert_non_null(strstr(svg.s, "main [cat]\n2 events, 40.00%"));
	assert_non_null(strstr(svg.s, "main [ls]\n3 events, 60.00%"));
}

static void test_refused(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	struct flame_frame root = { .name = "x", .where = NULL, .kind = FLAME_ROOT },
			   odd = { .name = "x", .where = NULL, .kind = 5 };

	assert_int_equal(flamegraph__add(f, &root, 0, 1), -EINVAL);
	assert_int_equal(flamegraph__add(f, &root, 1, 1), -EINVAL);
	assert_int_equal(flamegraph__add(f, &odd, 1, 1), -EINVAL);
	assert_int_equal(add(f, "a;b", UINT64_MAX - 1), 0);
	assert_int_equal(add(f, "a;c", 2), -EOVERFLOW);
	folded_is(f, "a;b 18446744073709551614\n");
}

static void add_change(struct flamegraph *f, const char *name, uint64_t weight, uint64_t before,
		       bool significant)
{
	const struct flame_frame frame = {
		.name = name,
		.kind = FLAME_USER,
		.change = { .known = true, .significant = significant, .before = before }
	};

	assert_int_equal(flamegraph__add(f, &frame, 1, weight), 0);
}

/* Red and blue are for changes that are more than noise, the darker the larger the change. */
static void test_changes(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	_cleanup_(strbuf__free) struct strbuf svg = { 0 };

	add_change(f, "slower", 200, 100, true);
	add_change(f, "faster", 10, 100, true);
	add_change(f, "fresh", 50, 0, true);
	add_change(f, "noisy", 30, 20, false);
	svg_of(f, &counted, &svg);
	assert_non_null(strstr(svg.s, "<g class=\"m3\" data-w=\"200\"><title>slower\n200 events, "
				      "68.97%; before 100 events, +100.00%</title>"));
	assert_non_null(strstr(svg.s, "<g class=\"l6\" data-w=\"10\"><title>faster\n10 events, "
				      "3.45%; before 100 events, -90.00%</title>"));
	assert_non_null(strstr(svg.s, "<g class=\"m7\" data-w=\"50\"><title>fresh\n50 events, "
				      "17.24%; before 0 events</title>"));
	assert_non_null(strstr(svg.s, "<g class=\"n0\" data-w=\"30\"><title>noisy\n30 events, "
				      "10.34%; before 20 events, +50.00%, may be noise</title>"));
	assert_non_null(strstr(svg.s, ">no change, or noise</text>"));
	assert_non_null(strstr(svg.s, ">more</text>"));
	assert_non_null(strstr(svg.s, ">less</text>"));
	assert_null(strstr(svg.s, ">user</text>"));
	strbuf__reset(&svg);
	flamegraph__free(f);
	f = new_flames();
	assert_int_equal(add(f, "a;b", 2), 0);
	svg_of(f, &counted, &svg);
	assert_null(strstr(svg.s, ">more</text>"));
	assert_null(strstr(svg.s, "before"));
}

struct box {
	double x, width;
	unsigned int depth;
	uint64_t weight;
};

/* Reads the boxes in the order of the picture. */
static unsigned int read_boxes(const char *svg, struct box *ret_boxes, unsigned int max)
{
	unsigned int nr = 0, y, top = 0;
	const char *p = svg;

	while ((p = strstr(p, "data-w=\""))) {
		struct box *b = &ret_boxes[nr];

		assert_true(nr < max);
		b->weight = strtoull(p + 8, NULL, 10);
		p = strstr(p, "<rect ");
		assert_non_null(p);
		assert_int_equal(sscanf(p, "<rect x=\"%lf\" y=\"%u\" width=\"%lf\"", &b->x, &y,
					&b->width),
				 3);
		top = nr++ ? top : y;
		b->depth = (y - top) / ROW;
	}
	return nr;
}

/*
 * Children lie within their parent, and the sums of their widths and weights do not exceed its own.
 */
static void test_adds_up(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	_cleanup_(strbuf__free) struct strbuf svg = { 0 };
	static struct box boxes[8192];
	uint64_t children[64] = { 0 };
	unsigned int nr, i, parents[64] = { 0 };
	char stack[128];

	srandom(4);
	for (i = 0; i < 2000; i++) {
		snprintf(stack, sizeof(stack), "g%ld;a%ld;b%ld;c%ld%s", random() % 3, random() % 4,
			 random() % 5, random() % 6, random() % 2 ? ";d;e" : "");
		assert_int_equal(add(f, stack, random() % 1000), 0);
	}
	svg_of(f, &counted, &svg);
	nr = read_boxes(svg.s, boxes, 8192);
	assert_true(nr > 300);
	assert_int_equal(boxes[0].weight, flamegraph__total(f));
	for (i = 1; i < nr; i++) {
		const struct box *b = &boxes[i], *p;

		assert_true(b->depth >= 1 && b->depth <= boxes[i - 1].depth + 1);
		parents[b->depth] = i;
		children[b->depth] = 0;
		p = &boxes[b->depth > 1 ? parents[b->depth - 1] : 0];
		children[b->depth - 1] += b->weight;
		assert_true(children[b->depth - 1] <= p->weight);
		assert_true(b->x >= p->x);
		assert_true(b->x + b->width <= p->x + p->width + 0.7);
	}
	assert_int_equal(children[0], boxes[0].weight);
}

static void test_same_bytes(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames(), *g = new_flames();
	_cleanup_(strbuf__free) struct strbuf a = { 0 }, b = { 0 };
	char stack[64];
	int i;

	for (i = 0; i < 500; i++) {
		snprintf(stack, sizeof(stack), "g%d;f%d;h%d", i % 3, i % 7, i % 50);
		assert_int_equal(add(f, stack, 1), 0);
	}
	for (i = 499; i >= 0; i--) {
		snprintf(stack, sizeof(stack), "g%d;f%d;h%d", i % 3, i % 7, i % 50);
		assert_int_equal(add(g, stack, 1), 0);
	}
	svg_of(f, &counted, &a);
	svg_of(g, &counted, &b);
	assert_string_equal(a.s, b.s);
}

/* Before the script there are only the tags of the picture. */
static void only_our_tags(const char *svg, const char *script)
{
	static const char *const tags[] = { "?xml ",  "svg ",	 "title>", "/title>",
					    "style>", "/style>", "rect ",  "text ",
					    "/text>", "g ",	 "/g>",	   "script>" };
	int titles = 0;
	unsigned int i;

	for (svg = strchr(svg, '<'); svg && svg <= script; svg = strchr(svg + 1, '<')) {
		for (i = 0; i < ARRAY_SIZE(tags) && strncmp(svg + 1, tags[i], strlen(tags[i])); i++)
			;
		assert_true(i < ARRAY_SIZE(tags));
		titles += i == 2 ? 1 : i == 3 ? -1 : 0;
		assert_true(titles == 0 || titles == 1);
	}
}

/*
 * Before the script there is no mark-up from names, no control character, and only XML's
 * characters.
 */
static void test_hostile(void **state)
{
	static const char *const names[] = {
		"</title></g><script>alert(1)</script>",
		"]]></script><script>alert(2)</script>",
		"\" onload=\"alert(3)",
		"a\x1b[31m\nb\r\x01\x7f",
		"\xff\xfe\xc3",
		"\xef\xbf\xbf\xef\xbf\xbe",
		"\xe2\x80\xae reversed",
		"a;b 7",
		"",
		"&lt;",
	};
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	_cleanup_(strbuf__free) struct strbuf svg = { 0 }, folded = { 0 };
	unsigned int i;
	const char *p, *script;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct flame_frame frames[] = {
			{ .name = names[i], .where = names[i], .kind = FLAME_GROUP },
			{ .name = names[i], .where = names[i], .kind = FLAME_KERNEL }
		};

		assert_int_equal(flamegraph__add(f, frames, 2, 10 + i), 0);
	}
	svg_of(f, &(struct flame_text){ names[0], names[1], names[2] }, &svg);
	script = strstr(svg.s, "<script>");
	assert_non_null(script);
	assert_null(strstr(script + 1, "<script>"));
	only_our_tags(svg.s, script);
	assert_ptr_equal(strstr(svg.s, "]]>"), strstr(script, "]]>"));
	assert_null(strstr(svg.s, "\" onload"));
	assert_null(strstr(svg.s, "\xef\xbf\xbf"));
	assert_null(strstr(svg.s, "\xe2\x80\xae"));
	assert_non_null(strstr(svg.s, "a\\x1b[31m\\x0ab\\x0d\\x01\\x7f"));
	assert_non_null(strstr(svg.s, "\\xff\\xfe\\xc3"));
	assert_non_null(strstr(svg.s, "&amp;lt;"));
	for (p = svg.s; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n');
	flamegraph__folded(f, &folded);
	assert_non_null(strstr(folded.s, "a\\x3bb 7;a\\x3bb 7_[k] 17\n"));
	assert_null(strchr(folded.s, '\x1b'));
}

static void test_times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = { { 7, "7 ns" },	    { 999, "999 ns" },	   { 1000, "1.00 us" },
		      { 12345, "12.3 us" }, { 999999, "1.00 ms" }, { 1500000, "1.50 ms" },
		      { 61e9, "61.0 s" },   { 1234e9, "1234 s" } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
		_cleanup_(strbuf__free) struct strbuf svg = { 0 };
		_cleanup_free_ char *want = NULL;

		assert_int_equal(add(f, "a", times[i].ns), 0);
		svg_of(f, &(struct flame_text){ .unit = "ns" }, &svg);
		assert_true(asprintf(&want, "<title>a\n%s, 100.00%%", times[i].text) > 0);
		assert_non_null(strstr(svg.s, want));
	}
}

/*
 * However many stacks there are, a browser can open the file, and the file says what is not drawn.
 */
static void test_size(void **state)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = new_flames();
	_cleanup_(strbuf__free) struct strbuf svg = { 0 };
	char stack[256];
	int i;

	for (i = 0; i < 30000; i++) {
		snprintf(stack, sizeof(stack),
			 "g%d;std::vector<int, std::allocator<int> >::f%d;<deeper>%d;h%d", i % 9,
			 i % 99, i % 9999, i);
		assert_int_equal(add(f, stack, 1 + i % 77), 0);
	}
	svg_of(f, &counted, &svg);
	assert_true(svg.len > 500000);
	assert_true(svg.len < 2000000);
	assert_non_null(strstr(svg.s, "; not drawn: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),	cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_changes),
		cmocka_unit_test(test_adds_up), cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_times),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
