// Collectives, one-sided windows and ping-pong of an MPI library; every byte is checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;

static void check(int ok, const char *what, long length) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "rank %d: %s of %ld bytes is wrong\n", rank, what, length);
}

// The byte at a place of what a rank sends: different for every rank, length and place.
static unsigned char pattern(int from, long length, long i) {
  return (unsigned char)(i * 31 + from * 17 + length * 7 + i / 251);
}

static void fill(unsigned char *data, int from, long length) {
  for (long i = 0; i < length; ++i) data[i] = pattern(from, length, i);
}

static int matches(const unsigned char *data, int from, long length, long offset, long count) {
  for (long i = 0; i < count; ++i) {
    if (data[i] != pattern(from, length, offset + i)) return 0;
  }
  return 1;
}

static void ping_pong(long length) {
  unsigned char *out = malloc(length), *in = malloc(length);
  const int peer = rank ^ 1;
  for (int round = 0; round < 10 && peer < size; ++round) {
    fill(out, rank + round, length);
    memset(in, 0, length);
    if (rank < peer) {
      MPI_Send(out, (int)length, MPI_BYTE, peer, round, MPI_COMM_WORLD);
      MPI_Recv(in, (int)length, MPI_BYTE, peer, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, (int)length, MPI_BYTE, peer, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, (int)length, MPI_BYTE, peer, round, MPI_COMM_WORLD);
    }
    check(matches(in, peer + round, length, 0, length), "ping-pong", length);
  }
  free(out);
  free(in);
}

static void collectives(long length) {
  unsigned char *own = malloc(length), *all = malloc(length * size), *sent = malloc(length * size);
  fill(own, rank == 0 ? 7 : rank, length);
  MPI_Bcast(own, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD);
  check(matches(own, 7, length, 0, length), "broadcast", length);
  fill(own, rank, length);
  memset(all, 0, length * size);
  MPI_Allgather(own, (int)length, MPI_BYTE, all, (int)length, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    check(matches(all + from * length, from, length, 0, length), "allgather", length);
  for (int to = 0; to < size; ++to) fill(sent + to * length, rank * 16 + to, length);
  memset(all, 0, length * size);
  MPI_Alltoall(sent, (int)length, MPI_BYTE, all, (int)length, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    check(matches(all + from * length, from * 16 + rank, length, 0, length), "alltoall", length);
  // Of 32 bits: Open MPI 4.1 saturates sums of bytes.
  const long words = length / 4;
  unsigned *sum = malloc(length), *part = (unsigned *)own;
  MPI_Allreduce(part, sum, (int)words, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  for (long i = 0; i < words; ++i) {
    unsigned expected = 0;
    for (int from = 0; from < size; ++from) {
      unsigned char bytes[4];
      unsigned word;
      for (int k = 0; k < 4; ++k) bytes[k] = pattern(from, length, i * 4 + k);
      memcpy(&word, bytes, 4);
      expected += word;
    }
    if (sum[i] != expected) {
      check(0, "allreduce", length);
      break;
    }
  }
  free(own);
  free(all);
  free(sent);
  free(sum);
}

static void windows(long length) {
  unsigned char *base = NULL, *own = malloc(length), *got = malloc(length);
  MPI_Win win;
  const long bytes = (length * 2 + 127) / 64 * 64;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, bytes);
  fill(base + length, rank + 100, length);
  MPI_Barrier(MPI_COMM_WORLD);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  fill(own, rank, length);
  memset(got, 0, length);
  MPI_Win_fence(0, win);
  MPI_Put(own, (int)length, MPI_BYTE, right, 0, (int)length, MPI_BYTE, win);
  MPI_Get(got, (int)length, MPI_BYTE, left, length, (int)length, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  check(matches(base, left, length, 0, length), "put", length);
  check(matches(got, left + 100, length, 0, length), "get", length);
  long long one = 1, before = 0;
  for (int i = 0; i < 20; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG_LONG, 0, (length * 2 + 15) / 8 * 8, MPI_SUM, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    check(*(long long *)(base + (length * 2 + 15) / 8 * 8) == 20LL * size, "fetch and add", 8);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
  free(own);
  free(got);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long lengths[] = {1, 8, 1000, 8192, 65536, 1000000, 4194304};
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    ping_pong(lengths[i]);
    if (lengths[i] <= 1000000) collectives(lengths[i]);
    windows(lengths[i]);
  }
  int total = 0;
  MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", size, total);
  MPI_Finalize();
  return total != 0;
}
