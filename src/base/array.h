/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Arrays that grow by doubling. */
#ifndef ARRAY_H
#define ARRAY_H

#include <errno.h>
#include <stdlib.h>

/*
 * Room for one more behind the nr elements of *array, which may move; *cap, of any unsigned type, says
 * how many there is room for.  0 or -ENOMEM, and then nothing has changed.
 */
#define array__grow(array, nr, cap)                                                  \
	({                                                                           \
		__typeof__(array) _array = (array);                                  \
		__typeof__(cap) _cap = (cap);                                        \
		size_t _more = *_cap ? 2 * (size_t)*_cap : 64;                       \
		void *_v = NULL;                                                     \
		int _err = 0;                                                        \
		if ((nr) >= *_cap) {                                                 \
			if ((__typeof__(*_cap))_more == _more)                       \
				_v = reallocarray(*_array, _more, sizeof(**_array)); \
			if (_v) {                                                    \
				*_array = _v;                                        \
				*_cap = _more;                                       \
			} else {                                                     \
				_err = -ENOMEM;                                      \
			}                                                            \
		}                                                                    \
		_err;                                                                \
	})

#endif /* ARRAY_H */
