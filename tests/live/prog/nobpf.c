// SPDX-License-Identifier: GPL-2.0-only
/*
 * nobpf COMMAND [ARGS]: runs it with bpf(2) refused, as on a locked-down kernel.
 * nobarrier COMMAND [ARGS]: runs it with membarrier(2) refused, as on a kernel with nohz_full.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "prog.h"

#ifdef NOBARRIER
#define REFUSED SYS_membarrier
#define ERROR EINVAL
#else
#define REFUSED SYS_bpf
#define ERROR EPERM
#endif

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ERROR),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 2)
		errx(2, "usage: %s COMMAND [ARGS]", argv[0]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(1, "seccomp");
	execvp(argv[1], argv + 1);
	err(127, "%s", argv[1]);
}
