// SPDX-License-Identifier: GPL-2.0-only
#include "user_files.h"

#include "../writing.h"
#include "cleanup.h"

void add_files(struct stk_writer *w)
{
	static const uint8_t app_id[20] = "\x3b\xa6\xe0\xc2\x1d 4-byte-id 0x5\x01";
	static const uint8_t libc_id[20] = "\xc0\x4a\x61\x31\xb5\x7c\x95\x5e\x0b\x8a\xf4";
	static const uint8_t sha[20] = "\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f";
	struct stk_file libc = { .path = "/usr/lib/x86_64-linux-gnu/libc.so.6",
				 .host_path = "/usr/lib/x86_64-linux-gnu/libc.so.6",
				 .dev_major = 254,
				 .dev_minor = 1,
				 .inode = 262155,
				 .size = 1922136,
				 .mtime_ns = 1700000000000000000ULL,
				 .id_kind = STK_ID_BUILD_ID,
				 .id = libc_id,
				 .id_len = 20 };

	add_file(w, (struct stk_file){ .path = "/usr/bin/demo",
				       .host_path = "/usr/bin/demo",
				       .dev_major = 254,
				       .dev_minor = 1,
				       .inode = 4711,
				       .size = 35664,
				       .mtime_ns = 1690000000123456789ULL,
				       .id_kind = STK_ID_BUILD_ID,
				       .id = app_id,
				       .id_len = 20 });
	add_file(w, libc);
	add_file(w, (struct stk_file){ .path = "/opt/app/lib plugin.so",
				       .host_path = "/srv/box/rootfs/opt/app/lib plugin.so",
				       .dev_minor = 48,
				       .inode = 99,
				       .size = 8000,
				       .mtime_ns = 1710000000000000000ULL,
				       .id_kind = STK_ID_CONTENT,
				       .id = sha,
				       .id_len = 20 });
	add_file(w, (struct stk_file){ .flags = STK_FILE_DELETED | STK_FILE_GONE,
				       .path = "/tmp/old.so",
				       .dev_minor = 40,
				       .inode = 17 });
	add_file(w, (struct stk_file){ .kind = STK_FILE_VDSO,
				       .path = "[vdso]",
				       .size = 8192,
				       .id_kind = STK_ID_BUILD_ID,
				       .id = sha + 4,
				       .id_len = 16 });
	add_file(w, (struct stk_file){ .kind = STK_FILE_JIT,
				       .path = "[jit]",
				       .pid = 4300,
				       .start_ns = 77000000000ULL,
				       .base = 0x7f0000000000ULL });
	libc.number = LIBC; /* another name, in a container */
	libc.path = "/lib/libc.so.6";
	libc.host_path = "/srv/box/rootfs/lib/libc.so.6";
	add_file(w, libc);
}

void add_user_symbols(struct stk_writer *w)
{
	const struct stk_user_symbol app[] = { { "main", 0x1100, 0x80 },
					       { "_ZN4demo4workEi", 0x1180, 0x100 },
					       { "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
						 0x1300, 0x40 },
					       { "_start", 0x1040, 0 } };
	const struct stk_user_symbol libc[] = { { "__libc_start_call_main", 0x27180, 0x90 },
						{ "clock_nanosleep", 0xd0f00, 0x120 },
						{ "__futex_abstimed_wait", 0x85600, 0x200 },
						{ "", 0x30000, 0x100 } };
	const struct stk_user_symbol vdso[] = { { "__vdso_clock_gettime", 0xc60, 0x50 } };
	const struct stk_user_symbol jit[] = { { "LazyCompile:*tick /srv/app.js:12", 0x1000,
						 0x400 } };

	ok(stk_writer__user_symbols(w, APP, app, ARRAY_SIZE(app)));
	ok(stk_writer__user_symbols(w, LIBC, libc, ARRAY_SIZE(libc)));
	ok(stk_writer__user_symbols(w, GONE, NULL, 0));
	ok(stk_writer__user_symbols(w, VDSO, vdso, ARRAY_SIZE(vdso)));
	ok(stk_writer__user_symbols(w, JIT, jit, ARRAY_SIZE(jit)));
}
