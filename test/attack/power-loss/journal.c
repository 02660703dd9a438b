/*
 * Loaded into a process by LD_PRELOAD, it keeps a journal of what the process does to the files whose
 * paths start with POWER_LOSS_FILES, and to their directory, in the order in which it is done. A sync
 * takes POWER_LOSS_SYNC_US microseconds and reaches no disk: the journal has its begin and its end.
 * A write is recorded before it is made: where a kill comes between, the journal has one write more.
 *
 * A record: operation (1 byte), length of the path (4), offset (8), length of the data (8), the path,
 * the data; integers in the byte order of the machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(name) *)real(#name, &name##_found))
#define FOUND(name) static void *name##_found

FOUND(open); FOUND(pwrite); FOUND(write); FOUND(writev); FOUND(ftruncate); FOUND(unlink); FOUND(rename);
FOUND(fsync); FOUND(link);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char files[4096], directory[4096];
static int journal = -1;
static useconds_t sync_time;

static void *real(const char *name, void **found) {
  if (!*found) *found = dlsym(RTLD_NEXT, name);
  return *found;
}

__attribute__((constructor)) static void start(void) {
  const char *prefix = getenv("POWER_LOSS_FILES"), *path = getenv("POWER_LOSS_JOURNAL");
  const char *time = getenv("POWER_LOSS_SYNC_US");
  if (!prefix || !path) return;
  strncpy(files, prefix, sizeof files - 1);
  strncpy(directory, prefix, sizeof directory - 1);
  *strrchr(directory, '/') = 0;
  if (time) sync_time = (useconds_t)atoi(time);
  journal = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (journal < 0) abort();
}

static int is_tracked(const char *path) {
  return journal >= 0 && (!strncmp(path, files, strlen(files)) || !strcmp(path, directory));
}

static int is_tracked_name(const char *path, char *full) {
  full[0] = 0;
  if (path[0] != '/' && getcwd(full, 4096)) strcat(full, "/");
  strncat(full, path, 4000);
  return is_tracked(full);
}

/* The path of a descriptor, if it is tracked. */
static const char *path_of(int fd, char *path) {
  char link[64];
  int saved = errno;
  char *end = link + 14;
  memcpy(link, "/proc/self/fd/", 14);
  char digits[16];
  int count = 0, rest = fd;
  if (journal < 0 || fd < 0) return NULL;
  do digits[count++] = (char)('0' + rest % 10); while ((rest /= 10) > 0);
  while (count > 0) *end++ = digits[--count];
  *end = 0;
  ssize_t length = readlink(link, path, 4095);
  errno = saved;
  if (length < 0) return NULL;
  path[length] = 0;
  return is_tracked(path) ? path : NULL;
}

static void record(char operation, const char *path, int64_t offset, const void *data, uint64_t length) {
  char head[21];
  uint32_t named = (uint32_t)strlen(path);
  head[0] = operation;
  memcpy(head + 1, &named, 4);
  memcpy(head + 5, &offset, 8);
  memcpy(head + 13, &length, 8);
  struct iovec parts[3] = {{head, 21}, {(void *)path, named}, {(void *)data, data ? length : 0}};
  int saved = errno;
  if (REAL(writev)(journal, parts, 3) < 0) abort();
  errno = saved;
}

static int opened(const char *path, int flags, mode_t mode) {
  char full[8192];
  if (!(flags & O_CREAT) || !is_tracked_name(path, full)) return REAL(open)(path, flags, mode);
  pthread_mutex_lock(&lock);
  int existed = access(path, F_OK) == 0;
  int fd = REAL(open)(path, flags, mode);
  if (fd >= 0 && !existed) record('C', full, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return opened(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define PWRITE(name) \
  ssize_t name(int fd, const void *data, size_t length, off_t offset) { \
    char buffer[4096]; \
    const char *path = path_of(fd, buffer); \
    if (!path) return REAL(pwrite)(fd, data, length, offset); \
    pthread_mutex_lock(&lock); \
    record('W', path, offset, data, length); \
    ssize_t written = REAL(pwrite)(fd, data, length, offset); \
    if (written != (ssize_t)length) abort(); \
    pthread_mutex_unlock(&lock); \
    return written; \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *data, size_t length) {
  char buffer[4096];
  const char *path = path_of(fd, buffer);
  if (!path) return REAL(write)(fd, data, length);
  pthread_mutex_lock(&lock);
  int64_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
  record('W', path, offset, data, length);
  ssize_t written = REAL(write)(fd, data, length);
  if (written != (ssize_t)length) abort();
  pthread_mutex_unlock(&lock);
  return written;
}

#define TRUNCATE(name) \
  int name(int fd, off_t length) { \
    char buffer[4096]; \
    const char *path = path_of(fd, buffer); \
    if (!path) return REAL(ftruncate)(fd, length); \
    pthread_mutex_lock(&lock); \
    int result = REAL(ftruncate)(fd, length); \
    if (result == 0) record('T', path, length, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return result; \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* What was written before its begin is on the disk at its end. */
static int synced(int fd) {
  static int64_t count;
  char buffer[4096];
  const char *path = path_of(fd, buffer);
  if (!path) return REAL(fsync)(fd);
  pthread_mutex_lock(&lock);
  int64_t id = ++count;
  record('B', path, id, NULL, 0);
  pthread_mutex_unlock(&lock);
  usleep(sync_time);
  pthread_mutex_lock(&lock);
  record('E', path, id, NULL, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

int unlink(const char *path) {
  char full[8192];
  if (!is_tracked_name(path, full)) return REAL(unlink)(path);
  pthread_mutex_lock(&lock);
  int result = REAL(unlink)(path);
  if (result == 0) record('U', full, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int link(const char *from, const char *to) {
  char source[8192], full[8192];
  if (!is_tracked_name(from, source) || !is_tracked_name(to, full)) return REAL(link)(from, to);
  pthread_mutex_lock(&lock);
  int result = REAL(link)(from, to);
  if (result == 0) record('L', full, 0, source, strlen(source));
  pthread_mutex_unlock(&lock);
  return result;
}

/* The replay knows no renaming. */
int rename(const char *from, const char *to) {
  char full[8192];
  if (is_tracked_name(from, full) || is_tracked_name(to, full)) abort();
  return REAL(rename)(from, to);
}
