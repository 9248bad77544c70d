// SPDX-License-Identifier: GPL-2.0-only
/* Names of C++ and Rust, and names that are crafted to keep a demangler busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/usyms.h"

static void expect(const char *mangled, const char *name)
{
	char *demangled = demangle(mangled);

	if (!name) {
		assert_null(demangled);
		return;
	}
	assert_non_null(demangled);
	assert_string_equal(demangled, name);
	free(demangled);
}

static void test_cxx(void **state)
{
	expect("_Z3foov", "foo");
	expect("_ZN3foo3barEiPKc", "foo::bar");
	expect("_ZNSt6vectorIiSaIiEE9push_backEOi",
	       "std::vector<int, std::allocator<int> >::push_back");
	expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
	expect("_ZTV3foo", "vtable for foo");
}

static void test_suffixes(void **state)
{
	expect("_Z3foov.cold", "foo.cold");
	expect("_ZN3foo3barEv.constprop.0.isra.1", "foo::bar.constprop.0.isra.1");
	expect("_ZN3foo3barEv@plt", "foo::bar@plt");
	expect("_ZN4core3fmt5writeE.llvm.1234", "core::fmt::write");
}

static void test_rust(void **state)
{
	expect("_ZN4core3fmt9Formatter3pad17h1234567890abcdefE", "core::fmt::Formatter::pad");
	expect("_ZN4core3fmt9Formatter3pad17h1234567890abcdefE.llvm.77",
	       "core::fmt::Formatter::pad");
	expect("_ZN4core3fmt9Formatter3pad17h1234567890abcdefE.cold",
	       "core::fmt::Formatter::pad.cold");
	expect("_ZN50_$LT$u8$u20$as$u20$core..clone..Clone..foo$GT$$GT$3bar17h1234567890abcdefE",
	       "<u8 as core::clone::Clone::foo>>::bar");
	expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	expect("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	expect("_RNvCs1234_7mycrate3foo.llvm.9", "mycrate::foo");
}

static void test_plain(void **state)
{
	expect("main", NULL);
	expect("", NULL);
	expect("_", NULL);
	expect("_Z", NULL);
	expect("_R", NULL);
	expect("_ZN", NULL);
	expect("_Zfoo", NULL);
	expect("runtime.goexit", NULL);
	expect("Z3foov", NULL);
}

/* A C++ back reference: S_, S0_, ... in base 36. */
static size_t put_reference(char *s, size_t at, unsigned int nr)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	s[at++] = 'S';
	if (nr > 36)
		s[at++] = digits[(nr - 1) / 36];
	if (nr)
		s[at++] = digits[(nr - 1) % 36];
	s[at++] = '_';
	return at;
}

/* Function types of function types: each level is twice as long as the previous one. */
static void test_exponential(void **state)
{
	for (unsigned int levels = 2; levels < 60; levels++) {
		char name[2048] = "_Z1fIPFvaaE";
		size_t at = strlen(name);

		for (unsigned int i = 1; i < levels; i++) {
			memcpy(name + at, "PFv", 3);
			at = put_reference(name, at + 3, 2 * i);
			at = put_reference(name, at, 2 * i);
			name[at++] = 'E';
		}
		strcpy(name + at, "Evv");
		if (levels == 2)
			expect(name,
			       "f<void (*)(signed char, signed char), void (*)(void (*)(signed "
			       "char, signed char), void (*)(signed char, signed char))>");
		else
			free(demangle(name));
	}
	/* A name of 2^58 bytes is not demangled, and rejecting it takes little time. */
}

static void test_deep(void **state)
{
	enum { LEN = 100000 };
	char *name = malloc(LEN + 10), *demangled;

	for (size_t len = 10; len <= LEN; len *= 10) {
		strcpy(name, "_Z1fI");
		memset(name + 5, 'P', len);
		strcpy(name + 5 + len, "iEvv");
		free(demangle(name));
		memset(name + 5, 'N', len);
		free(demangle(name));
		strcpy(name, "_RNvC1a1b");
		memset(name + 2, 'T', len);
		free(demangle(name));
	}
	/* a long valid name, and one that is too long */
	for (int digits = 1000; digits <= 9000; digits += 8000) {
		sprintf(name, "_RNvC1a%d", digits);
		memset(name + 11, 'a', digits);
		name[11 + digits] = '\0';
		demangled = demangle(name);
		assert_int_equal(!!demangled, digits == 1000);
		free(demangled);
	}
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),	    cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_rust),	    cmocka_unit_test(test_plain),
		cmocka_unit_test(test_exponential), cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
