// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Fills the tables of a BPF object that walks kernel stacks, and keeps them right. */
#include "kwalk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "kwalk_copy.h"
#include "kwalk_copy.skel.h"
#include "kwalk_priv.h"
#include "log.h"
#include "orc.h"

#define KWALK_ROOM_BLOCKS 8192 /* 2 MiB of text for modules that are loaded later */
#define KWALK_ROOM_ROWS (64 << 10)

static size_t index_size(const struct kwalk *k)
{
	return k->max_blocks * sizeof(struct kwalk_block);
}

static size_t rows_size(const struct kwalk *k)
{
	return k->max_rows * sizeof(struct kwalk_row);
}

static void unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* clang-format off */
#define SYMBOLS(X) \
	X(TEXT, "_stext") \
	/* The init text, where the boot CPU's idle task began, is the last of all text. */ \
	X(TEXT_END, "_einittext") \
	X(GAP, "_etext") /* data between the text and the init text, with frame pointers */ \
	X(GAP_END, "_sinittext") \
	X(ORC_IPS, "__start_orc_unwind_ip") X(ORC_IPS_END, "__stop_orc_unwind_ip") \
	X(ORC_ENTRIES, "__start_orc_unwind") X(ORC_ENTRIES_END, "__stop_orc_unwind") \
	/* since 6.5 */ \
	X(ORC_HEADER, "__start_orc_header") X(ORC_HEADER_END, "__stop_orc_header") \
	/* the list of modules; kallsyms of some kernels lack it, because it is data */ \
	X(MODULES, "modules") \
	/* return addresses that function_graph and kretprobes insert */ \
	X(FGRAPH_RETURN, "return_to_handler") X(RETHOOK_RETURN, "arch_rethook_trampoline") \
	X(KRETPROBE_RETURN, "__kretprobe_trampoline") \
	/* callers of raw tracepoints' programs, by the number of arguments */ \
	X(RUN, "bpf_trace_run1") X(RUN_2, "bpf_trace_run2") X(RUN_3, "bpf_trace_run3") \
	X(RUN_4, "bpf_trace_run4") X(RUN_5, "bpf_trace_run5") X(RUN_6, "bpf_trace_run6") \
	X(RUN_7, "bpf_trace_run7") X(RUN_8, "bpf_trace_run8") X(RUN_9, "bpf_trace_run9") \
	X(RUN_10, "bpf_trace_run10") X(RUN_11, "bpf_trace_run11") X(RUN_12, "bpf_trace_run12") \
	X(RUN_SYS_ENTER, "__bpf_trace_sys_enter") X(RUN_SYS_EXIT, "__bpf_trace_sys_exit") \
	X(RUN_TASK_RENAME, "__bpf_trace_task_rename")

#define SYMBOL_CONSTANT(symbol, name) symbol,
#define SYMBOL_NAME(symbol, name) name,
enum symbol { SYMBOLS(SYMBOL_CONSTANT) NR_SYMBOLS };
static const char *const symbol_names[NR_SYMBOLS] = { SYMBOLS(SYMBOL_NAME) };
/* clang-format on */

/* The size from "NAME+0x0/0xSIZE"; 0: not a function. */
static uint32_t size_of(const char *text)
{
	unsigned int size;

	text = strstr(text, "+0x0/");
	return text && sscanf(text, "+0x0/%x", &size) == 1 ? size : 0;
}

static bool is_needed(enum kwalk_unwinder unwinder, enum symbol i)
{
	return i <= (unwinder == KWALK_FRAME_POINTERS ? GAP_END : ORC_ENTRIES_END);
}

static int read_symbols(struct kwalk_copy_bpf *skel, enum kwalk_unwinder unwinder,
			struct kwalk_range *symbols)
{
	unsigned int i;

	for (i = 0; i < NR_SYMBOLS; i++) {
		struct kwalk_symbol s = { .err = -EFAULT };
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &s, .ctx_size_in = sizeof(s));

		strncpy(s.name, symbol_names[i], sizeof(s.name) - 1);
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.look_up), &o))
			s.err = -errno;
		if (s.err && s.err != -ENOENT)
			return log_msg(STK_LOG_DEBUG, s.err, "look up the kernel's %s",
				       symbol_names[i]);
		if (s.err && is_needed(unwinder, i))
			return log_msg(STK_LOG_DEBUG, -ENOTSUP,
				       "read the kernel's unwind rules: no symbol %s",
				       symbol_names[i]);
		if (s.err)
			continue;
		s.text[sizeof(s.text) - 1] = '\0';
		symbols[i] = (struct kwalk_range){ .start = s.addr, .size = size_of(s.text) };
	}
	return 0;
}

/* ---- raw tracepoints ------------------------------------------------------------------------- */

static bool is_in(const struct kwalk_range *r, uint64_t addr)
{
	return addr - r->start < r->size;
}

/* Whether __bpf_trace_task_rename() called bpf_trace_runN() instead of jumping there. */
static bool is_called(const struct kwalk *k, const struct kwalk_range *caller)
{
	const __u64 *words = k->skel->bss->call.words;
	size_t i;

	for (i = 0; i + 1 < ARRAY_SIZE(k->skel->bss->call.words); i++)
		if (is_in(&k->is.callers[KWALK_RUN], words[i]))
			return is_in(caller, words[i + 1]);
	return false;
}

/*
 * If this fails, bpf_get_stack() is used for raw tracepoints.  bpf_trace_runN() keeps the arguments
 * either next to the return address or two words above it.  Which one may depend on N.
 */
static void learn_raw(struct kwalk *k, const struct kwalk_range *task_rename)
{
	const struct kwalk_call *call = &k->skel->bss->call;
	struct bpf_link *link = bpf_program__attach(k->skel->progs.learn);
	char name[16] = "";
	uint64_t at;

	if (!link || prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, name))
		log_msg(STK_LOG_DEBUG, -errno, "learn how raw tracepoints call programs");
	bpf_link__destroy(link);
	at = call->context - (call->frame + 8);
	if (!call->frame || at - 8 >= 4096)
		return;
	k->is.raw_at[0] = at;
	k->is.raw_at[1] = at == 8 ? 24 : 8;
	k->is.raw_calls = is_called(k, task_rename);
}

/* The functions are adjacent, in any order and with others between them. */
static void find_callers(struct kwalk *k, const struct kwalk_range *symbols)
{
	uint64_t start = UINT64_MAX, end = 0;
	unsigned int i;

	for (i = RUN; i <= RUN_12; i++) {
		start = MIN(start, symbols[i].start);
		end = MAX(end, symbols[i].start + symbols[i].size);
	}
	if (!start || end - start > 65536)
		return;
	k->is.callers[KWALK_RUN] = (struct kwalk_range){ .start = start, .size = end - start };
	k->is.callers[KWALK_SYS_ENTER] = symbols[RUN_SYS_ENTER];
	k->is.callers[KWALK_SYS_EXIT] = symbols[RUN_SYS_EXIT];
	learn_raw(k, &symbols[RUN_TASK_RENAME]);
}

/* ---- the kernel's tables --------------------------------------------------------------------- */

/* Copies kernel memory to offset `to` of the map `copied`. */
static int copy_part(struct kwalk_copy_bpf *skel, uint64_t from, uint32_t len, uint32_t to)
{
	struct kwalk_copy c = { .from = from, .len = len, .to = to, .err = -EFAULT };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &c, .ctx_size_in = sizeof(c));
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.copy), &o);

	return err ? -errno : c.err;
}

int kwalk__copy_kernel(struct kwalk_copy_bpf *skel, uint64_t from, size_t len, void **ret_bytes)
{
	size_t size = sizeof(struct kwalk_copied), at, n;
	_cleanup_free_ char *to = malloc(len);
	void *copied;
	int err = 0;

	if (!to)
		return -ENOMEM;
	copied = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(skel->maps.copied), 0);
	if (copied == MAP_FAILED)
		return log_msg(STK_LOG_DEBUG, -errno, "map the copies of kernel memory");
	for (at = 0; at < len && !err; at += n) {
		n = MIN(len - at, (size_t)KWALK_PART);
		err = copy_part(skel, from + at, n, 0);
		if (!err)
			memcpy(to + at, copied, n);
	}
	munmap(copied, size);
	if (err)
		return log_msg(STK_LOG_DEBUG, err, "copy the kernel's unwind rules");
	*ret_bytes = take_ptr(to);
	return 0;
}

static int read_header(struct kwalk *k, const struct kwalk_range *symbols)
{
	size_t len = symbols[ORC_HEADER_END].start - symbols[ORC_HEADER].start;
	_cleanup_free_ void *header = NULL;
	int err;

	if (!symbols[ORC_HEADER].start || !symbols[ORC_HEADER_END].start)
		return 0;
	if (len != ORC_HEADER_SIZE)
		return log_msg(STK_LOG_DEBUG, -ENOTSUP,
			       "read the kernel's unwind rules: a header of %zu bytes", len);
	err = kwalk__copy_kernel(k->skel, symbols[ORC_HEADER].start, len, &header);
	return err ?: orc_header__check(header);
}

/* ---- the maps of the table ------------------------------------------------------------------- */

static int map_memory(int fd, size_t size, void *ret)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*(void **)ret = p;
	return 0;
}

static int create_map(const char *name, uint32_t size, uint32_t nr, int *ret_fd, void *ret_memory)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), size, nr, &o), err;

	if (fd < 0)
		return log_msg(STK_LOG_DEBUG, fd, "create the map %s", name);
	*ret_fd = fd;
	err = map_memory(fd, (size_t)size * nr, ret_memory);
	return err ? log_msg(STK_LOG_DEBUG, err, "map %s", name) : 0;
}

/* The rules are compiled directly into the maps, so that each page is touched only once. */
static int create_maps(struct kwalk *k, uint32_t blocks, uint32_t rows)
{
	int err;

	k->max_blocks = blocks + k->room_blocks;
	k->max_rows = rows + k->room_rows;
	err = create_map("kwalk_index", sizeof(*k->index), k->max_blocks, &k->index_fd, &k->index);
	if (err)
		return err;
	return create_map("kwalk_rows", sizeof(*k->rows), k->max_rows, &k->rows_fd, &k->rows);
}

/* ---- the kernel's rules ---------------------------------------------------------------------- */

#define PIECE (64 << 10) /* entries; a piece with its addresses fits into one copy */

/* The window holds the addresses of a piece, followed by its entries. */
static int compile_pieces(struct kwalk *k, struct orc_compiler *c, uint64_t entries_at,
			  const char *window)
{
	size_t from, nr, ips_len = PIECE * sizeof(int32_t);
	int err = 0;

	for (from = 0; from < c->t->nr && !err; from += nr) {
		nr = MIN(c->t->nr - from, (size_t)PIECE);
		err = copy_part(k->skel, c->t->ips_at + 4 * from, nr * sizeof(int32_t), 0) ?:
			      copy_part(k->skel, entries_at + from * ORC_ENTRY_SIZE,
					nr * ORC_ENTRY_SIZE, ips_len);
		if (err)
			return log_msg(STK_LOG_DEBUG, err, "copy the kernel's unwind rules");
		err = orc_compiler__add(c, (const void *)window, window + ips_len, nr);
	}
	return err;
}

static int compile(struct kwalk *k, const struct kwalk_range *symbols)
{
	size_t nr = (symbols[ORC_IPS_END].start - symbols[ORC_IPS].start) / sizeof(int32_t);
	struct orc_tables t = {
		.layout = &k->layout,
		.ips_at = symbols[ORC_IPS].start,
		.nr = nr,
		.text = symbols[TEXT].start,
		.text_end = symbols[TEXT_END].start,
	};
	struct orc_compiler c = { .t = &t };
	uint32_t blocks, rows;
	void *window = NULL;
	int err;

	if (nr > ORC_MAX_ENTRIES ||
	    symbols[ORC_ENTRIES_END].start - symbols[ORC_ENTRIES].start != nr * ORC_ENTRY_SIZE)
		return log_msg(STK_LOG_DEBUG, -EBADMSG,
			       "read the kernel's unwind rules: two tables that do not match");
	err = orc__bounds(&t, &blocks, &rows) ?: create_maps(k, blocks, rows);
	if (err)
		return err;
	c.c.index = k->index;
	c.c.rows = k->rows;
	err = map_memory(bpf_map__fd(k->skel->maps.copied), sizeof(struct kwalk_copied), &window);
	if (err)
		return log_msg(STK_LOG_DEBUG, err, "map the copies of kernel memory");
	orc_compiler__begin(&c);
	err = compile_pieces(k, &c, symbols[ORC_ENTRIES].start, window);
	munmap(window, sizeof(struct kwalk_copied));
	if (err)
		return err;
	orc_compiler__end(&c);
	k->nr_blocks = blocks;
	k->nr_rows = c.c.nr_rows;
	return 0;
}

/* ---- frame pointers -------------------------------------------------------------------------- */

/*
 * struct unwind_state belongs to the unwinder.  Only that of CONFIG_UNWINDER_FRAME_POINTER has
 * members of these names (since 4.14).
 */
static bool has_frame_pointers(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "unwind_state", BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const struct btf_member *m = t ? btf_members(t) : NULL;
	unsigned int i, found = 0;

	for (i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		found += name && (!strcmp(name, "got_irq") || !strcmp(name, "next_bp") ||
				  !strcmp(name, "orig_sp"));
	}
	return found == 3;
}

static int read_text(struct kwalk *k, const struct kwalk_range *symbols)
{
	unsigned int i;

	if (symbols[TEXT].start >= symbols[TEXT_END].start ||
	    symbols[TEXT_END].start - symbols[TEXT].start > (uint64_t)KWALK_MAX_BLOCKS
								    << KWALK_BLOCK_SHIFT)
		return log_msg(STK_LOG_DEBUG, -EBADMSG, "find the kernel's text");
	k->is.text = symbols[TEXT].start;
	k->is.text_size = symbols[TEXT_END].start - symbols[TEXT].start;
	for (i = 0; i < KWALK_RETURNS; i++)
		k->is.returns[i] = symbols[FGRAPH_RETURN + i].start;
	if (k->is.unwinder == KWALK_ORC)
		return 0;
	if (symbols[ORC_IPS].start)
		return log_msg(STK_LOG_DEBUG, -ENOTSUP,
			       "walk kernel stacks: the kernel has frame pointers and ORC rules");
	if (symbols[GAP].start < symbols[TEXT].start ||
	    symbols[GAP_END].start < symbols[GAP].start ||
	    symbols[GAP_END].start > symbols[TEXT_END].start)
		return log_msg(STK_LOG_DEBUG, -EBADMSG, "find the data within the kernel's text");
	k->is.gap = symbols[GAP].start - symbols[TEXT].start;
	k->is.gap_size = symbols[GAP_END].start - symbols[GAP].start;
	return 0;
}

/* ---- what the kernel provides ---------------------------------------------------------------- */

/* Room for the loaded modules and for some that are loaded later. */
static int plan_room(struct kwalk *k)
{
	struct module_tables t;
	int err, tries = KWALK_TRIES;

	if (k->is.unwinder == KWALK_FRAME_POINTERS)
		return create_maps(k, 1, 1); /* a map is never empty */
	/* Reading the list fails if a module is unloaded meanwhile. */
	do
		err = module_tables__read(k, KWALK_MAX_BLOCKS, KWALK_MAX_ROWS / 2, &t);
	while (err && --tries);
	if (err || !k->modules_at)
		return err;
	k->room_blocks = t.nr_blocks + t.nr_blocks / 4 + KWALK_ROOM_BLOCKS;
	k->room_rows = t.nr_rows + t.nr_rows / 4 + KWALK_ROOM_ROWS;
	module_tables__free(&t);
	return 0;
}

/* THREAD_SIZE: a task's stack is a member of union thread_union. */
static uint32_t stack_size(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "thread_union", BTF_KIND_UNION);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	return t && t->size >= 4096 && !(t->size & (t->size - 1)) ? t->size : 16384;
}

static enum kwalk_reader reader_of(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) < 0 ? KWALK_BY_COPY :
										   KWALK_BY_LOAD;
}

static int read_tables(struct kwalk *k, const struct btf *btf)
{
	struct kwalk_range symbols[NR_SYMBOLS] = { 0 };
	int err;

	k->is.reader = reader_of(btf);
	k->is.stack_size = stack_size(btf);
	module_layout__read(btf, &k->module);
	k->is.unwinder = has_frame_pointers(btf) ? KWALK_FRAME_POINTERS : KWALK_ORC;
	err = k->is.unwinder == KWALK_ORC ? orc_layout__read(btf, &k->layout) : 0;
	if (err)
		return err;
	k->skel = kwalk_copy_bpf__open_and_load();
	if (!k->skel)
		return log_msg(STK_LOG_DEBUG, -errno,
			       "load the program that copies the kernel's unwind rules");
	err = read_symbols(k->skel, k->is.unwinder, symbols) ?: read_text(k, symbols);
	if (err)
		return err;
	k->modules_at = symbols[MODULES].start;
	find_callers(k, symbols);
	err = plan_room(k);
	if (!err && k->is.unwinder == KWALK_ORC)
		err = read_header(k, symbols) ?: compile(k, symbols);
	return err;
}

int kwalk__new_btf(const struct btf *btf, struct kwalk **ret_kwalk)
{
	struct btf *own = btf ? NULL : btf__load_vmlinux_btf();
	struct kwalk *k;
	int err;

	if (!btf && !own)
		return log_msg(STK_LOG_DEBUG, -ENOTSUP,
			       "walk kernel stacks: the kernel has no BTF");
	k = calloc(1, sizeof(*k));
	err = k ? read_tables(k, btf ?: own) : -ENOMEM;
	btf__free(own);
	if (err)
		kwalk__free(k);
	else
		*ret_kwalk = k;
	return err;
}

int kwalk__new(struct kwalk **ret_kwalk)
{
	return kwalk__new_btf(NULL, ret_kwalk);
}

void kwalk__free(struct kwalk *k)
{
	unsigned int i;

	if (!k)
		return;
	if (k->modules) /* modules are no longer followed */
		__atomic_store_n(&k->modules->valid, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < ARRAY_SIZE(k->links); i++)
		bpf_link__destroy(k->links[i]);
	unmap(k->modules, sizeof(*k->modules));
	unmap(k->index, index_size(k));
	unmap(k->rows, rows_size(k));
	if (k->index_fd)
		close(k->index_fd);
	if (k->rows_fd)
		close(k->rows_fd);
	kwalk_copy_bpf__destroy(k->skel);
	free(k);
}

bool kwalk__walks_raw(const struct kwalk *k)
{
	return k->is.raw_at[0] && k->is.callers[KWALK_RUN].size;
}

size_t kwalk__size(const struct kwalk *k)
{
	return index_size(k) + rows_size(k);
}

enum kwalk_unwinder kwalk__unwinder(const struct kwalk *k)
{
	return k->is.unwinder;
}

/* ---- the object ------------------------------------------------------------------------------ */

static struct bpf_map *find_map(const struct bpf_object *obj, const char *name)
{
	struct bpf_map *m;

	/* The name of the map .rodata.kwalk starts with the object's name. */
	bpf_object__for_each_map(m, obj)
	{
		const char *is = bpf_map__name(m);
		size_t n = strlen(is), want = strlen(name);

		if (n >= want && !strcmp(is + n - want, name))
			return m;
	}
	return NULL;
}

static int read_settings(struct bpf_object *obj, struct kwalk_settings *ret_settings)
{
	struct bpf_map *m = find_map(obj, ".rodata.kwalk");
	size_t size = 0;
	const void *p = m ? bpf_map__initial_value(m, &size) : NULL;

	if (!p || size != sizeof(*ret_settings))
		return log_err(-ENOENT, "find the settings of the kernel walk in the object");
	memcpy(ret_settings, p, size);
	return 0;
}

static int write_settings(struct bpf_object *obj, const struct kwalk_settings *s)
{
	int err = bpf_map__set_initial_value(find_map(obj, ".rodata.kwalk"), s, sizeof(*s));

	return err ? log_err(err, "set the settings of the kernel walk") : 0;
}

static int use_map(struct bpf_object *obj, const char *name, int fd)
{
	struct bpf_map *m = find_map(obj, name);
	int err = m ? bpf_map__reuse_fd(m, fd) : -ENOENT;

	return err ? log_err(err, "use %s", name) : 0;
}

/* kernel.perf_event_max_stack, the depth limit of bpf_get_stack(). */
static uint32_t max_frames(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int limit;

	return f && fscanf(f, "%u", &limit) == 1 && limit < KWALK_MAX_FRAMES ? limit :
									       KWALK_MAX_FRAMES;
}

static int size_memos(const struct bpf_object *obj)
{
	struct bpf_map *m = find_map(obj, "kwalk_memos");
	int nr = libbpf_num_possible_cpus(), err;

	if (nr < 0)
		return log_err(nr, "count the CPUs");
	err = m ? bpf_map__set_max_entries(m, nr * KWALK_MEMOS) : -ENOENT;
	return err ? log_err(err, "size kwalk_memos") : 0;
}

int kwalk__prepare(const struct kwalk *k, struct bpf_object *obj)
{
	struct kwalk_settings s, wanted;
	int err;

	if (!k)
		return 0;
	err = read_settings(obj, &wanted)		       ?:
		      use_map(obj, "kwalk_index", k->index_fd) ?:
		      use_map(obj, "kwalk_rows", k->rows_fd);
	if (err)
		return err;
	s = k->is;
	s.frames = max_frames();
	s.check_first = wanted.check_first;
	s.check_shift = wanted.check_shift;
	/* along frame pointers few memos are plain */
	s.plain = s.reader == KWALK_BY_LOAD && s.unwinder == KWALK_ORC;
	return write_settings(obj, &s) ?: size_memos(obj);
}

int kwalk__prepare_reads(const struct btf *btf, struct bpf_object *obj)
{
	struct kwalk_settings s;
	int err = read_settings(obj, &s);

	if (err)
		return err;
	s.reader = reader_of(btf);
	return write_settings(obj, &s);
}

int kwalk__set_checks(struct bpf_object *obj, uint32_t first, uint32_t shift)
{
	struct kwalk_settings s;
	int err = read_settings(obj, &s);

	if (err)
		return err;
	s.check_first = first;
	s.check_shift = shift;
	return write_settings(obj, &s);
}

static int map_whole(const struct bpf_object *obj, const char *name, size_t size, void *ret)
{
	struct bpf_map *m = find_map(obj, name);
	void *p;

	if (!m)
		return log_why(-ENOENT, "map %s: the object has no such map", name);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(m), 0);
	if (p == MAP_FAILED)
		return log_err(-errno, "map %s", name);
	*(void **)ret = p;
	return 0;
}

static int attach(struct kwalk *k, struct bpf_object *obj, unsigned int i, const char *program,
		  const char *event)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, program);

	k->links[i] = p ? bpf_program__attach_raw_tracepoint(p, event) : NULL;
	return k->links[i] ? 0 : log_err(p ? -errno : -ENOENT, "attach %s", program);
}

/* If this fails, bpf_get_stack() takes the stacks that pass through modules. */
static void follow_modules(struct kwalk *k, struct bpf_object *obj)
{
	int err;

	if (!k->modules_at)
		return;
	err = map_whole(obj, "kwalk_modules", sizeof(*k->modules), &k->modules) ?:
		      attach(k, obj, 0, "kwalk_module_load", "module_load")	?:
		      attach(k, obj, 1, "kwalk_module_free", "module_free")	?:
										  kwalk__refresh(k);
	if (err)
		log_warn("kernel stacks with frames in modules are not walked: %s", strerror(-err));
	k->failed = err;
}

/* The tables are complete: lets walks start. */
static int enable(const struct bpf_object *obj)
{
	struct bpf_map *m = find_map(obj, ".data.kwalk");
	struct kwalk_state state = { 0 };
	uint32_t zero = 0;

	if (!m || bpf_map_update_elem(bpf_map__fd(m), &zero, &state, 0))
		return log_err(m ? -errno : -ENOENT, "enable the kernel walk");
	return 0;
}

int kwalk__start(struct kwalk *k, struct bpf_object *obj)
{
	if (!k)
		return 0;
	follow_modules(k, obj);
	return enable(obj);
}

int kwalk__counts(const struct bpf_object *obj, struct kwalk_counts *ret_counts)
{
	struct bpf_map *m = find_map(obj, "kwalk_counts");
	int nr = libbpf_num_possible_cpus(), i, j;
	_cleanup_free_ struct kwalk_counts *of = NULL;
	struct kwalk_counts sum = { 0 };
	uint32_t zero = 0;

	if (!m || nr < 0)
		return log_err(m ? nr : -ENOENT, "read the counts of the kernel walk");
	of = calloc(nr, sizeof(*of));
	if (!of)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(m), &zero, of))
		return log_err(-errno, "read the counts of the kernel walk");
	for (i = 0; i < nr; i++) {
		for (j = 0; j < KWALK_STOPS; j++)
			sum.stopped[j] += of[i].stopped[j];
		for (j = 0; j < KWALK_VERDICTS; j++)
			sum.checks[j] += of[i].checks[j];
	}
	*ret_counts = sum;
	return 0;
}

const char *kwalk_stop__name(enum kwalk_stop stop)
{
	static const char *const names[] = {
		[KWALK_DONE] = "walked",
		[KWALK_STOP_OFF] = "off",
		[KWALK_STOP_RULE] = "no rule",
		[KWALK_STOP_TEXT] = "other text",
		[KWALK_STOP_STACK] = "left the stack",
	};

	return stop < KWALK_STOPS ? names[stop] : "unknown";
}
