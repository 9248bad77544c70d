/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of raw_syscalls events, which are the same from Linux 6.1 to 6.18. */
#ifndef CALL_FORMATS_H
#define CALL_FORMATS_H

#include "../common_fields.h"

#define ENTRY_FORMAT                                                                            \
	"name: sys_enter\nID: 443\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n" \
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"                   \
	"print fmt: \"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], "         \
	"REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]\n"
#define EXIT_FORMAT                                                                            \
	"name: sys_exit\nID: 442\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n" \
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"                                \
	"print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n"

#endif /* CALL_FORMATS_H */
