// Runs the matrix of operations and faults in virtual time. The same seed gives the same hash.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "test/faults/digest.h"
#include "test/faults/matrix.h"
#include "test/faults/options.h"

using namespace verbs::soft::test::faults;

namespace {

struct Run {
  Cell cell;
  Result result;
  std::string failure;
};

Run run_one(const Cell& cell, std::uint64_t seed) {
  Run run{cell, {}, {}};
  try {
    run.result = run_cell(cell, seed_of(cell, seed));
  } catch (const Wrong& wrong) {
    run.failure = wrong.what();
  }
  return run;
}

// On a terminal one line that is written over, else a line now and then.
void show_progress(std::size_t done, std::size_t all, std::size_t failures) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  if (!terminal && done % 200 != 0 && done != all) return;
  std::fprintf(stderr, "%sfaults: %zu of %zu cells, %zu failed%s", terminal ? "\r" : "", done, all, failures,
               terminal && done != all ? "" : "\n");
}

void print_line(const Run& run) {
  const Result& result = run.result;
  std::printf("%-40s hash %016" PRIx64 "  %2d of %2d done, %2d received, %4" PRIu64 " sent again, %9.3f ms  %s\n",
              name_of(run.cell).c_str(), result.hash, result.completed, result.messages, result.received,
              result.retransmitted, static_cast<double>(result.nanoseconds) / 1e6, run.failure.c_str());
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

void print_json(const Options& options, const std::vector<Run>& runs, std::uint64_t hash, std::size_t failures) {
  std::printf("{\"seed\":\"%" PRIu64 "\",\"hash\":\"%016" PRIx64 "\",\"failed\":%zu,\"cells\":[", options.seed, hash,
              failures);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Result& result = runs[i].result;
    std::printf("%s{\"cell\":%s,\"hash\":\"%016" PRIx64
                "\",\"messages\":%d,\"completed\":%d,\"received\":%d,"
                "\"retransmitted\":%" PRIu64 ",\"nanoseconds\":%" PRId64 ",\"failure\":%s}",
                i == 0 ? "" : ",", quoted(name_of(runs[i].cell)).c_str(), result.hash, result.messages,
                result.completed, result.received, result.retransmitted, result.nanoseconds,
                runs[i].failure.empty() ? "null" : quoted(runs[i].failure).c_str());
  }
  std::printf("]}\n");
}

}  // namespace

int main(int count, char** words) {
  const std::optional<Options> options = read_options(count, words);
  if (!options) return 2;
  // What the NIC's test harness asserts is a cell's failure too.
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& data) {
    throw Wrong(std::string(data.m_file) + ":" + std::to_string(data.m_line) + ": " + data.m_expr);
  });

  std::vector<Cell> chosen = cells(options->cells);
  if (!options->only.empty()) {
    chosen.resize(1);
    if (!find_cell(options->only, chosen.data())) {
      std::fprintf(stderr, "fault_matrix: there is no cell %s; --list shows their names\n", options->only.c_str());
      return 2;
    }
  }
  std::vector<Run> runs;
  Digest digest;
  std::size_t failures = 0, whole = 0;
  for (const Cell& cell : chosen) {
    runs.push_back(run_one(cell, options->seed));
    const Run& run = runs.back();
    digest.add(run.result.hash);
    failures += !run.failure.empty();
    whole += run.failure.empty() && run.result.completed == run.result.messages;
    if (options->list && !options->json) print_line(run);
    show_progress(runs.size(), chosen.size(), failures);
  }
  if (options->json) print_json(*options, runs, digest.value(), failures);
  FILE* out = options->json ? stderr : stdout;
  for (const Run& run : runs) {
    if (run.failure.empty()) continue;
    std::fprintf(out, "FAILED %s: %s\n  repeat it alone: npm run trial faults -- --seed %" PRIu64 " --only %s\n",
                 name_of(run.cell).c_str(), run.failure.c_str(), options->seed, name_of(run.cell).c_str());
  }
  std::fprintf(out,
               "faults: seed %" PRIu64
               ", %zu cells of %zu pairs of operation and fault: in %zu everything completed, "
               "in %zu the retries ran out as they had to, %zu failed; hash %016" PRIx64 "\n",
               options->seed, runs.size(), pair_count(), whole, runs.size() - whole - failures, failures,
               digest.value());
  return failures == 0 ? 0 : 1;
}
