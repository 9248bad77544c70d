/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes the instructions that fill records, on memory of the test.  It knows the instructions
 * that the generator uses and no others.  The test fails where they use a register that is not set,
 * write outside of the record's room or to its common fields, or read what they have not written.
 */
#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_layout.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_types.h"

struct native_machine {
	uint64_t args[NATIVE_MAX_ARGS];
	unsigned int nr_args; /* reading others is an error */
	uint64_t task; /* the running task */
	uint8_t rec[NATIVE_ROOM];
	bool written[NATIVE_ROOM];
	uint64_t size; /* the result */
};

/*
 * Addresses from 4096 on are those of the test's own memory.  The functions that read it take the
 * place of the kernel's.
 */
void native_machine__run(struct native_machine *m, const struct native_code *code);

#endif /* NATIVE_MACHINE_H */
