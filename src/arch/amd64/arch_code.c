// SPDX-License-Identifier: GPL-2.0-only
/* Machine code of amd64 by its bytes.  Encodings: Intel SDM volume 2, appendix B. */
#include "arch_code.h"

#include <string.h>

#include "arch_insn.h"

bool arch_code__is_sigreturn(const uint8_t *p, size_t len)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return (len >= sizeof(wide) && !memcmp(p, wide, sizeof(wide))) ||
	       (len >= sizeof(narrow) && !memcmp(p, narrow, sizeof(narrow)));
}

bool arch_code__is_entry(const uint8_t *p, size_t len)
{
	struct arch_insn insn;

	for (int i = 0; i < 3 && arch_insn__decode(p, len, &insn); i++) {
		if (insn.kind == INSN_CLEAR_FP ||
		    (p[0] == 0x48 && p[1] == 0x89 && (p[2] & 0xf8) == 0xe0)) /* mov %rsp, */
			return true;
		p += insn.len;
		len -= insn.len;
	}
	return false;
}

unsigned int arch_code__store_fp_len(uint32_t off)
{
	if (!off)
		return 4;
	return off < 128 ? 5 : 8;
}

bool arch_code__stores_fp(const uint8_t *p, size_t len, uint32_t off)
{
	static const uint8_t modrm[] = { [4] = 0x2c, [5] = 0x6c, [8] = 0xac };
	unsigned int n = arch_code__store_fp_len(off);

	return len >= n && p[0] == 0x48 && p[1] == 0x89 && p[2] == modrm[n] && p[3] == 0x24 &&
	       !memcmp(p + 4, &off, n - 4);
}

bool arch_code__pushes_fp(uint8_t byte)
{
	return byte == 0x55;
}

bool arch_code__is_fork(const uint8_t *p, size_t len)
{
	/* syscall; test %rax,%rax */
	static const uint8_t code[] = { 0x0f, 0x05, 0x48, 0x85, 0xc0 };

	return len > sizeof(code) && !memcmp(p, code, sizeof(code));
}

unsigned int arch_code__clone_len(const uint8_t *p, size_t len)
{
	/* syscall; test %eax,%eax; jnz; xor %ebp,%ebp */
	static const uint8_t head[] = { 0x0f, 0x05, 0x85, 0xc0, 0x75 }, tail[] = { 0x31, 0xed };

	if (len < sizeof(head) + 1 + sizeof(tail) || memcmp(p, head, sizeof(head)) ||
	    memcmp(p + sizeof(head) + 1, tail, sizeof(tail)))
		return 0;
	return 4 + sizeof(tail);
}

bool arch_code__is_padding(const uint8_t *p, size_t len)
{
	struct arch_insn insn;
	size_t at = 0, op;

	while (at < len) {
		if (!arch_insn__decode(p + at, len - at, &insn))
			return false;
		for (op = at; p[op] == 0x66 || p[op] == 0x2e; op++)
			;
		if (p[op] != 0x90 && p[op] != 0xcc && (p[op] != 0x0f || p[op + 1] != 0x1f))
			return false;
		at += insn.len;
	}
	return true;
}

enum arch_stub arch_code__stub(const uint8_t *p, size_t len, int64_t *ret_value)
{
	size_t at = !memcmp(p, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0; /* endbr64 */
	int32_t disp;
	uint32_t nr;

	if (len - at >= 5 && p[at] == 0x68) { /* push $NUMBER */
		memcpy(&nr, p + at + 1, sizeof(nr));
		*ret_value = nr;
		return ARCH_STUB_PUSHES;
	}
	if (p[at] == 0xf2) /* bnd */
		at++;
	if (len - at < 6 || p[at] != 0xff || p[at + 1] != 0x25) /* jmp *DISP(%rip) */
		return ARCH_STUB_UNKNOWN;
	memcpy(&disp, p + at + 2, sizeof(disp));
	*ret_value = (int64_t)at + 6 + disp;
	return ARCH_STUB_JUMPS;
}
