/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Arrays that grow by doubling.  The macros return 0, or -ENOMEM and change nothing. */
#ifndef ARRAY_H
#define ARRAY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "huge_pages.h"

/*
 * Makes room for `want` elements in total in *array, which may move.  *cap, of any unsigned type,
 * is its capacity.
 */
#define array__reserve(array, want, cap)                                             \
	({                                                                           \
		__typeof__(array) _array = (array);                                  \
		__typeof__(cap) _cap = (cap);                                        \
		size_t _want = (want), _more = *_cap ? 2 * (size_t)*_cap : 64;       \
		void *_v = NULL;                                                     \
		int _err = 0;                                                        \
		if (_want > *_cap) {                                                 \
			if (_more < _want)                                           \
				_more = _want;                                       \
			if ((__typeof__(*_cap))_more == _more)                       \
				_v = reallocarray(*_array, _more, sizeof(**_array)); \
			if (_v) {                                                    \
				huge_pages__advise(_v, _more * sizeof(**_array));    \
				*_array = _v;                                        \
				*_cap = _more;                                       \
			} else {                                                     \
				_err = -ENOMEM;                                      \
			}                                                            \
		}                                                                    \
		_err;                                                                \
	})

/* Makes room for one more after the nr elements. */
#define array__grow(array, nr, cap) array__reserve(array, (size_t)(nr) + 1, cap)

/* Extends *array, of *nr elements, to include index i; new elements are zero. */
#define array__reach(array, i, nr)                                                     \
	({                                                                             \
		__typeof__(nr) _nr = (nr);                                             \
		size_t _old = *_nr;                                                    \
		int _reach = array__grow(array, i, _nr);                               \
		if (*_nr > _old)                                                       \
			memset(*(array) + _old, 0, (*_nr - _old) * sizeof(**(array))); \
		_reach;                                                                \
	})

/*
 * Appends a value to *array, of *nr elements.  The capacity is not stored: it is the next power of
 * two.
 */
#define array__append(array, nr, ...)                                                      \
	({                                                                                 \
		__typeof__(array) _to = (array);                                           \
		__typeof__(nr) _n = (nr);                                                  \
		void *_p = *_to;                                                           \
		if (!(*_n & (*_n - 1)))                                                    \
			_p = reallocarray(*_to, *_n ? 2 * (size_t)*_n : 1, sizeof(**_to)); \
		if (_p) {                                                                  \
			*_to = _p;                                                         \
			(*_to)[(*_n)++] = __VA_ARGS__;                                     \
		}                                                                          \
		_p ? 0 : -ENOMEM;                                                          \
	})

/*
 * The index of the first element, in a sorted array of nr, that is not before the wanted one.
 * is_before is an expression of the index i.
 */
#define array__bisect(nr, i, is_before)                \
	({                                             \
		size_t _low = 0, _high = (nr), i;      \
		while (_low < _high) {                 \
			i = _low + (_high - _low) / 2; \
			if (is_before)                 \
				_low = i + 1;          \
			else                           \
				_high = i;             \
		}                                      \
		_low;                                  \
	})

#endif /* ARRAY_H */
