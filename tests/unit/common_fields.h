/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields with which the format of every tracepoint begins. */
#ifndef COMMON_FIELDS_H
#define COMMON_FIELDS_H

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#endif /* COMMON_FIELDS_H */
