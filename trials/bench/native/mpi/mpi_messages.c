// Messages between the two ranks of an MPI program: round trips, or with -w a stream of so many in flight. What is
// below MPI is the environment's business. It needs an MPI library's compiler, so bin/mpi.mjs builds it, not CMake.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../fail.h"
#include "../options.h"
#include "../result.h"

enum { kDone = 1 };

static void check(const unsigned char* message, uint32_t size, uint32_t n) {
  if (message[0] != (unsigned char)n || message[size - 1] != (unsigned char)n) fail("a message is not the one sent");
}

static void mark(unsigned char* message, uint32_t size, uint32_t n) {
  message[0] = message[size - 1] = (unsigned char)n;
}

static void round_trips(const struct options* options, int rank, unsigned char* out, unsigned char* in) {
  const uint32_t warm_up = options->count / 10 + 100;
  uint64_t* samples = calloc(options->count, sizeof *samples);
  if (!samples) fail("-n: no memory");
  const int size = (int)options->size;
  for (uint32_t n = 0; n < warm_up + options->count; ++n) {
    mark(out, options->size, n);
    const uint64_t start = now_ns();
    if (rank == 0) MPI_Send(out, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (n >= warm_up) samples[n - warm_up] = now_ns() - start;
    check(in, options->size, n);
  }
  if (rank == 0) print_round_trips(samples, options->count);
}

// Windows one after the other: MPI completes a small send before it has arrived.
static void window(const struct options* options, int rank, unsigned char* buffers, MPI_Request* requests, uint32_t n) {
  const int size = (int)options->size;
  for (uint32_t i = 0; i < options->window; ++i) {
    unsigned char* buffer = buffers + (size_t)i * options->size;
    if (rank == 0) {
      mark(buffer, options->size, n + i);
      MPI_Isend(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, requests + i);
    } else {
      MPI_Irecv(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, requests + i);
    }
  }
  MPI_Waitall((int)options->window, requests, MPI_STATUSES_IGNORE);
  if (rank == 1) {
    for (uint32_t i = 0; i < options->window; ++i) check(buffers + (size_t)i * options->size, options->size, n + i);
  }
}

// The last message of the stream is answered.
static void answer(int rank) {
  unsigned char byte = 0;
  if (rank == 0) MPI_Recv(&byte, 1, MPI_BYTE, 1, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(&byte, 1, MPI_BYTE, 0, kDone, MPI_COMM_WORLD);
}

static void stream(const struct options* options, int rank) {
  unsigned char* buffers = calloc(options->window, options->size);
  MPI_Request* requests = calloc(options->window, sizeof(MPI_Request));
  if (!buffers || !requests) fail("-w: no memory");
  for (uint32_t n = 0; n < options->count / 10; n += options->window) window(options, rank, buffers, requests, n);
  answer(rank);
  const uint64_t start = now_ns();
  uint32_t sent = 0;
  for (; sent < options->count; sent += options->window) window(options, rank, buffers, requests, sent);
  answer(rank);
  if (rank == 0) print_rate(sent, options->size, now_ns() - start);
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  MPI_Init(NULL, NULL);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("it is for two ranks");
  unsigned char* out = calloc(1, options.size);
  unsigned char* in = calloc(1, options.size);
  if (!out || !in) fail("-s: no memory");
  if (options.window == 0) {
    round_trips(&options, rank, out, in);
  } else {
    stream(&options, rank);
  }
  MPI_Finalize();
}
