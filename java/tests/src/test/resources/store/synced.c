/* Preloaded into a server: keeps each file whose path begins with $KBX_TEST_WATCHED in the folder $KBX_TEST_SYNCED as it was when it was
   last synced. After a power failure nothing more need be left of it. It is read through the descriptor that is there: to close another one
   would end SQLite's locks on the file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep(int fd) {
  const char *watched = getenv("KBX_TEST_WATCHED"), *folder = getenv("KBX_TEST_SYNCED");
  char link[64], path[PATH_MAX], draft[PATH_MAX], kept[PATH_MAX], block[1 << 16];
  if (watched == NULL || folder == NULL) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, watched, strlen(watched)) != 0) return;
  snprintf(kept, sizeof kept, "%s/%s", folder, strrchr(path, '/') + 1);
  snprintf(draft, sizeof draft, "%s/draft-%d", folder, (int)gettid());
  int copy = open(draft, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (copy < 0) abort();
  off_t offset = 0;
  for (ssize_t got; (got = pread(fd, block, sizeof block, offset)) > 0; offset += got) {
    if (write(copy, block, got) != got) abort();
  }
  close(copy);
  if (rename(draft, kept) != 0) abort();
}

int fsync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int result = next(fd);
  if (result == 0) keep(fd);
  return result;
}

int fdatasync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int result = next(fd);
  if (result == 0) keep(fd);
  return result;
}
