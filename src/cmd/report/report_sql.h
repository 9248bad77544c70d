/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the query of report --print-sql: report_sql.c and report_sql_filter.c. */
#ifndef CMD_REPORT_SQL_H
#define CMD_REPORT_SQL_H

#include "report.h"

/* What --filter demands of events of one type. */
struct sql_condition {
	bool is_selected; /* events of the type may be selected */
	bool has_fields; /* it tests fields of the type */
	struct strbuf text; /* " AND (...)", or empty */
};

/* Fills *ret, which is zero; an exit code, after a message. */
int report__sql_condition(struct report *rp, const struct stk_event_type *t,
			  struct sql_condition *ret);
/* Text between two quotes, which are doubled in it. */
void sql__put_quoted(struct strbuf *b, const char *s, char quote);
/* sym, caller or file of the stacks _kstack and _ustack, or of one of them: STACKS_... */
void sql__put_frame_name(struct strbuf *b, enum value_name name, unsigned int stacks);

#endif /* CMD_REPORT_SQL_H */
