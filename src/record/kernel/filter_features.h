/* SPDX-License-Identifier: GPL-2.0-only */
/* What the running kernel's event filters support, found by trying them. */
#ifndef RECORD_FILTER_FEATURES_H
#define RECORD_FILTER_FEATURES_H

struct filter_features;
struct ksyms;

/* ret_features borrows syms until it is cleared. */
void filter_features__probe(struct ksyms *syms, struct filter_features *ret_features);
void filter_features__clear(struct filter_features *features);

#endif /* RECORD_FILTER_FEATURES_H */
