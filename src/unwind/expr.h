/* SPDX-License-Identifier: GPL-2.0-only */
/* DWARF expressions (DWARF 5, 2.5) in the few forms that compilers, linkers and libc use in CFI. */
#ifndef UNWIND_EXPR_H
#define UNWIND_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "rules.h"

/* The CFA; s->cfa becomes UNW_CFA_UNKNOWN if the expression has another form. */
void unw_expr__cfa(const uint8_t *p, size_t len, struct unw_state *s);
/* The address where a register was saved.  UNW_LOST for other forms. */
struct unw_place unw_expr__place(const uint8_t *p, size_t len);

#endif /* UNWIND_EXPR_H */
