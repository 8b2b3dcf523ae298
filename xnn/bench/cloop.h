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

enum xb_kind { xb_adds, xb_convolution, xb_depthwise, xb_fully_connected };

struct xb_tensor {
  size_t rank;
  const size_t* dims;
  const void* data;  // of a constant, which must stay until the runtime is made; else NULL
};

// ((a+b)+b)+b..., adds times, or a layer that multiplies a with the filter b and adds a bias.
struct xb_spec {
  enum xnn_datatype datatype;
  enum xb_kind kind;
  struct xb_tensor a, b, y, bias;
  size_t adds;
  uint32_t padding[4];  // top, right, bottom, left
  uint32_t stride;
};

struct xb_loop {
  xnn_runtime_t runtime;
  pthreadpool_t pool;  // NULL with one thread
};

// Makes a runtime of its own, planned and bound to a, b (unless that is a constant) and y, which stay the caller's and must
// outlive it. After success the caller owns what is in the loop: xb_close.
enum xnn_status xb_open(const struct xb_spec* spec, size_t threads, void* a, void* b, void* y, struct xb_loop* loop);
void xb_close(struct xb_loop* loop);

// The same of a subgraph, which stays the caller's, and the values that lie outside it.
enum xnn_status xb_start(xnn_subgraph_t subgraph, size_t threads, size_t count, const struct xnn_external_value* values,
                         struct xb_loop* loop);

// Runs it so many times and gives the time of all, on the clock of this side.
enum xnn_status xb_run(struct xb_loop* loop, size_t runs, int64_t* ns);

// Opens and closes it so many times, one thread; gives the time of opening.
enum xnn_status xb_load(const struct xb_spec* spec, size_t runs, void* a, void* b, void* y, int64_t* ns);

// Sends workers that still spin to sleep.
void xb_quiet(struct xb_loop* loop);

// Nothing: what crossing from Go to C takes.
static inline void xb_nothing(void) {}

#endif
