/* SPDX-License-Identifier: MIT
 * wasi_open.c - lets a test that was compiled to wasm read the golden data and write its results.
 *
 * Emscripten's stand-alone C library opens the standard streams only (its open is weak, "TODO: full file support"); reading,
 * writing, seeking and closing work. These replace it, below the folders that run_wasi.mjs hands over: "r", and "w".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

struct prestat {
	uint32_t tag, name_nbytes; /* tag 0: a folder */
};

WASI(fd_prestat_get) int wasi_prestat_get(int fd, struct prestat *prestat);
WASI(fd_prestat_dir_name) int wasi_prestat_name(int fd, char *name, uint32_t name_nbytes);
WASI(path_open)
int wasi_path_open(int folder, uint32_t follow_links, const char *path, uint32_t path_nbytes, uint32_t open_flags, uint64_t rights,
	uint64_t inherited_rights, uint32_t fd_flags, int *fd);

enum { FIRST_PREOPENED = 3 };
#define RIGHTS_READ_SEEK_TELL_STAT ((uint64_t)(1u << 1 | 1u << 2 | 1u << 5 | 1u << 21))
#define RIGHT_WRITE ((uint64_t)(1u << 6))
#define CREATE_TRUNCATE (1u << 0 | 1u << 3)

static long open_below(const char *path, long flags)
{
	const uint64_t write = (flags & O_ACCMODE) == O_WRONLY ? RIGHT_WRITE : 0;
	struct prestat prestat;
	char folder[1024];

	for (int preopened = FIRST_PREOPENED; wasi_prestat_get(preopened, &prestat) == 0; preopened++) {
		const uint32_t folder_nbytes = prestat.name_nbytes;
		int fd;

		if (prestat.tag != 0 || folder_nbytes > sizeof folder || wasi_prestat_name(preopened, folder, folder_nbytes) != 0)
			continue;
		if (strncmp(path, folder, folder_nbytes) != 0 || path[folder_nbytes] != '/')
			continue;
		path += folder_nbytes + 1;
		if (wasi_path_open(preopened, 1, path, (uint32_t)strlen(path), write ? CREATE_TRUNCATE : 0,
			    RIGHTS_READ_SEEK_TELL_STAT | write, 0, 0, &fd) != 0)
			return -ENOENT;
		return fd;
	}
	return -ENOENT;
}

/* The name that the C library calls depends on Emscripten's version. */
long __syscall_open(const char *path, long flags, ...);
int __syscall_openat(int folder, intptr_t path, int flags, ...);

long __syscall_open(const char *path, long flags, ...)
{
	return open_below(path, flags);
}

int __syscall_openat(int folder, intptr_t path, int flags, ...)
{
	(void)folder;
	return (int)open_below((const char *)path, flags);
}
