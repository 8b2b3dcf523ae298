// What a C program that uses XNNPACK directly would do, for the column "C" of the table.
#ifndef XB_CLOOP_H
#define XB_CLOOP_H

#include <stddef.h>
#include <stdint.h>

#include <pthreadpool.h>
#include <xnnpack.h>

// The stamp of the archive, compiled into it.
extern const char xg_stamp[];
static inline const char* xb_stamp(void) { return xg_stamp; }

// ((a+b)+b)+b..., adds times.
struct xb_spec {
  enum xnn_datatype datatype;
  size_t rank_a, rank_b;
  const size_t* dims_a;  // of the output, too
  const size_t* dims_b;
  size_t adds;
};

struct xb_loop {
  xnn_runtime_t runtime;
  pthreadpool_t pool;  // NULL with one thread
};

// Makes a runtime of its own, planned and bound to a, b and y, which stay the caller's and must outlive it. After success
// the caller owns what is in the loop: xb_close.
enum xnn_status xb_open(const struct xb_spec* spec, size_t threads, void* a, void* b, void* y, struct xb_loop* loop);
void xb_close(struct xb_loop* loop);

// Runs it so many times and gives the time of all, on the clock of this side.
enum xnn_status xb_run(struct xb_loop* loop, size_t runs, int64_t* ns);

// Opens and closes it so many times, one thread; gives the time of opening.
enum xnn_status xb_load(const struct xb_spec* spec, size_t runs, void* a, void* b, void* y, int64_t* ns);

// Sends workers that still spin to sleep.
void xb_quiet(struct xb_loop* loop);

// Nothing: what crossing from Go to C takes.
static inline void xb_nothing(void) {}

#endif
