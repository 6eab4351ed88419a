#define _GNU_SOURCE
#include "leftovers.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void note(struct held *held, const char *target) {
  for (int i = 0; i < held->kinds; i++) {
    if (strcmp(held->descriptors[i].target, target) == 0) {
      held->descriptors[i].count++;
      return;
    }
  }
  if (held->kinds == sizeof held->descriptors / sizeof *held->descriptors) return;
  snprintf(held->descriptors[held->kinds].target, sizeof held->descriptors->target, "%s", target);
  held->descriptors[held->kinds++].count = 1;
}

void held_now(struct held *held) {
  memset(held, 0, sizeof *held);
  DIR *descriptors = opendir("/proc/self/fd");
  for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
    char path[PATH_MAX], target[96] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    if (readlink(path, target, sizeof target - 1) < 0) continue;
    // The directory that is being read; and inodes are new each time.
    if (strncmp(target, "/proc/", 6) == 0) continue;
    char *inode = strstr(target, ":[");
    if (inode && inode[2] != 'p' && inode[2] != 'e') *inode = 0;
    note(held, target);
  }
  if (descriptors) closedir(descriptors);
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) held->threads += entry->d_name[0] != '.';
  if (tasks) closedir(tasks);
}

static int before(const struct held *held, const char *target) {
  for (int i = 0; i < held->kinds; i++) {
    if (strcmp(held->descriptors[i].target, target) == 0) return held->descriptors[i].count;
  }
  return 0;
}

static int more(const struct held *baseline, const struct held *now, int kind, int sockets, int pidfds) {
  const char *target = now->descriptors[kind].target;
  int count = now->descriptors[kind].count - before(baseline, target);
  if (strcmp(target, "socket") == 0) count -= sockets;
  if (strcmp(target, "anon_inode:[pidfd]") == 0) count -= pidfds;
  return count > 0 ? count : 0;
}

void print_leftovers(const struct held *baseline, long milliseconds, int sockets, int pidfds) {
  const struct timespec moment = {.tv_nsec = 50000000};
  struct held now;
  for (;; milliseconds -= 50) {
    held_now(&now);
    int total = now.threads > baseline->threads;
    for (int i = 0; i < now.kinds; i++) total += more(baseline, &now, i, sockets, pidfds);
    if (total == 0 || milliseconds <= 0) break;
    nanosleep(&moment, NULL);
  }
  const char *comma = "";
  for (int i = 0; i < now.kinds; i++) {
    const int count = more(baseline, &now, i, sockets, pidfds);
    if (count > 0) printf("%s\"%d descriptors %s\"", comma, count, now.descriptors[i].target), comma = ",";
  }
  if (now.threads > baseline->threads) printf("%s\"%d threads\"", comma, now.threads - baseline->threads);
}
