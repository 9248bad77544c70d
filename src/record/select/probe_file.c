// SPDX-License-Identifier: GPL-2.0-only
/* Finds and opens the program or library that a probe names. */
#include "probe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arch_elf.h"
#include "cleanup.h"
#include "log.h"
#include "symbols/debug_file.h"
#include "symbols/elf_go.h"
#include "symbols/elf_names.h"

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Looks up the file in a list of directories, separated by colons. */
static char *look_in(const char *dirs, const char *name)
{
	char path[PATH_MAX];

	while (dirs && *dirs) {
		int len = strcspn(dirs, ":");

		if (len && snprintf(path, sizeof(path), "%.*s/%s", len, dirs, name) < PATH_MAX &&
		    is_file(path))
			return realpath(path, NULL);
		dirs += len + (dirs[len] == ':');
	}
	return NULL;
}

static char *look_up(const char *name)
{
	char *path;

	if (strchr(name, '/'))
		return is_file(name) ? realpath(name, NULL) : NULL;
	path = look_in(getenv("PATH"), name);
	return path ? path : look_in(ARCH_ELF_LIBRARY_DIRS, name);
}

/* Logs why the file before the first colon cannot be used. */
static int complain_missing(const char *spec, const char *rest)
{
	_cleanup_free_ char *name = strndup(rest, strcspn(rest, ":"));
	struct stat st;

	if (!name)
		return -ENOMEM;
	if (!*name)
		return log_why(-EINVAL, "event '%s': a program or library is missing", spec);
	if (!strchr(name, '/'))
		return log_why(-ENOENT, "event '%s': '%s' is neither in $PATH nor a library", spec,
			       name);
	if (stat(name, &st))
		return log_err(-errno, "event '%s': find '%s'", spec, name);
	return log_why(-EINVAL, "event '%s': '%s' is not a regular file", spec, name);
}

static int find_path(const char *spec, const char *rest, struct probe_file *f,
		     const char **ret_what)
{
	size_t len = 0;

	do {
		_cleanup_free_ char *name = NULL;
		char *path;

		len += strcspn(rest + len, ":");
		name = strndup(rest, len);
		if (!name)
			return -ENOMEM;
		path = look_up(name);
		if (path) {
			f->path = path;
			f->given = take_ptr(name);
			*ret_what = rest[len] ? rest + len + 1 : NULL;
			return 0;
		}
	} while (rest[len++]);
	return complain_missing(spec, rest);
}

static int check(const struct probe_file *f)
{
	const Elf64_Ehdr *ehdr = &f->elf.ehdr;

	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN)
		log_err(0, "'%s' is neither a program nor a library", f->path);
	else if (!f->elf.is64 || ehdr->e_machine != ARCH_ELF_MACHINE)
		log_err(0,
			"'%s' was not built for " ARCH_ELF_NAME ": its functions cannot be probed",
			f->path);
	else
		return 0;
	return -ENOEXEC;
}

int probe_file__open(const char *spec, const char *rest, struct probe_file *ret_file,
		     const char **ret_what)
{
	struct probe_file f = { .fd = -1, .elf = { .fd = -1 } };
	const char *what = NULL;
	int err = find_path(spec, rest, &f, &what);

	if (err)
		return err;
	f.fd = open(f.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (f.fd < 0)
		err = log_err(-errno, "open '%s'", f.path);
	if (!err)
		err = elf_file__from_fd(f.fd, &f.elf);
	if (err == -ENOEXEC)
		log_err(0, "'%s' is not an ELF file", f.path);
	else if (!err)
		err = check(&f);
	else if (f.fd >= 0)
		log_err(err, "read '%s'", f.path);
	if (err) {
		probe_file__close(&f);
		return err;
	}
	*ret_file = f;
	*ret_what = what;
	return 0;
}

void probe_file__close(struct probe_file *f)
{
	elf_names__free(f->names);
	elf_file__done(&f->elf);
	closep(&f->fd);
	free(f->path);
	free(f->given);
	*f = (struct probe_file){ .fd = -1, .elf = { .fd = -1 } };
}

int probe_file__load_names(struct probe_file *f)
{
	static const char *const dirs[] = { DEBUG_DIRS_USUAL, NULL };
	const struct debug_dirs debug = { .sysroot = "", .dirs = dirs };
	_cleanup_close_ int debug_fd = -1;
	int err;

	err = elf_file__load_sections(&f->elf);
	if (err == -ENOMEM)
		return log_err(err, "read '%s'", f->path);
	f->is_go = !err && elf_go__section(&f->elf);
	f->stripped = !debug_file__has_symbols(f->fd);
	if (f->stripped && !debug_dirs__open_debug(&debug, f->fd, f->path, &debug_fd))
		f->stripped = false;
	err = elf_names__from_fd(f->fd, debug_fd, &f->names);
	return err && err != -ENOENT ? log_err(err, "read the symbols of '%s'", f->path) : err;
}
