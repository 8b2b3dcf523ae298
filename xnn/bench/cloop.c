#include "cloop.h"

#include <math.h>
#include <time.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static enum xnn_status tensor(xnn_subgraph_t subgraph, const struct xb_spec* spec, const struct xb_tensor* t,
                              uint32_t external, uint32_t flags, uint32_t* id) {
  const bool constant = t->data != NULL;
  return xnn_define_tensor_value(subgraph, spec->datatype, t->rank, t->dims, t->data,
                                 constant ? XNN_INVALID_VALUE_ID : external, constant ? 0 : flags, id);
}

static enum xnn_status define_adds(xnn_subgraph_t subgraph, const struct xb_spec* spec, uint32_t a, uint32_t b, uint32_t y) {
  enum xnn_status status = xnn_status_success;
  for (size_t i = 0; i < spec->adds && status == xnn_status_success; i++) {
    uint32_t sum = y;
    if (i + 1 < spec->adds) {
      status = tensor(subgraph, spec, &spec->y, XNN_INVALID_VALUE_ID, 0, &sum);
    }
    if (status == xnn_status_success) {
      status = xnn_define_binary(subgraph, xnn_binary_add, NULL, a, b, sum, 0);
    }
    a = sum;
  }
  return status;
}

static enum xnn_status define_layer(xnn_subgraph_t subgraph, const struct xb_spec* spec, uint32_t a, uint32_t b, uint32_t y) {
  uint32_t bias;
  const enum xnn_status status = tensor(subgraph, spec, &spec->bias, XNN_INVALID_VALUE_ID, 0, &bias);
  if (status != xnn_status_success) {
    return status;
  }
  const uint32_t* p = spec->padding;
  const uint32_t s = spec->stride;
  const size_t* filter = spec->b.dims;
  switch (spec->kind) {
    case xb_convolution:
      return xnn_define_convolution_2d(subgraph, p[0], p[1], p[2], p[3], filter[1], filter[2], s, s, 1, 1, 1, filter[3],
                                       filter[0], -INFINITY, INFINITY, a, b, bias, y, 0);
    case xb_depthwise:
      return xnn_define_depthwise_convolution_2d(subgraph, p[0], p[1], p[2], p[3], filter[1], filter[2], s, s, 1, 1, 1,
                                                 filter[3], -INFINITY, INFINITY, a, b, bias, y, 0);
    case xb_fully_connected:
      return xnn_define_fully_connected(subgraph, -INFINITY, INFINITY, a, b, bias, y, 0);
    default:
      return xnn_status_invalid_parameter;
  }
}

static enum xnn_status define(xnn_subgraph_t subgraph, const struct xb_spec* spec) {
  uint32_t a, b, y;
  enum xnn_status status = tensor(subgraph, spec, &spec->a, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT, &a);
  if (status == xnn_status_success) {
    status = tensor(subgraph, spec, &spec->b, 1, XNN_VALUE_FLAG_EXTERNAL_INPUT, &b);
  }
  if (status == xnn_status_success) {
    status = tensor(subgraph, spec, &spec->y, 2, XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &y);
  }
  if (status != xnn_status_success) {
    return status;
  }
  return spec->kind == xb_adds ? define_adds(subgraph, spec, a, b, y) : define_layer(subgraph, spec, a, b, y);
}

enum xnn_status xb_open(const struct xb_spec* spec, size_t threads, void* a, void* b, void* y, struct xb_loop* loop) {
  *loop = (struct xb_loop){0};
  xnn_subgraph_t subgraph = NULL;
  enum xnn_status status = xnn_create_subgraph(3, 0, &subgraph);
  if (status != xnn_status_success) {
    return status;
  }
  status = define(subgraph, spec);
  if (status == xnn_status_success) {
    const struct xnn_external_value values[] = {{0, a}, {2, y}, {1, b}};
    status = xb_start(subgraph, threads, spec->b.data == NULL ? 3 : 2, values, loop);
  }
  xnn_delete_subgraph(subgraph);
  return status;
}

enum xnn_status xb_start(xnn_subgraph_t subgraph, size_t threads, size_t count, const struct xnn_external_value* values,
                         struct xb_loop* loop) {
  *loop = (struct xb_loop){0};
  enum xnn_status status = xnn_status_success;
  if (threads > 1) {
    loop->pool = pthreadpool_create(threads);
    if (loop->pool == NULL) {
      status = xnn_status_out_of_memory;
    }
  }
  if (status == xnn_status_success) {
    // No flags: workers spin between runs, the fastest that XNNPACK has.
    status = xnn_create_runtime_v2(subgraph, loop->pool, 0, &loop->runtime);
  }
  if (status == xnn_status_success) {
    status = xnn_reshape_runtime(loop->runtime);
  }
  if (status == xnn_status_success) {
    status = xnn_setup_runtime_v2(loop->runtime, count, values);
  }
  if (status != xnn_status_success) {
    xb_close(loop);
  }
  return status;
}

void xb_close(struct xb_loop* loop) {
  if (loop->runtime != NULL) {
    xnn_delete_runtime(loop->runtime);
  }
  if (loop->pool != NULL) {
    pthreadpool_destroy(loop->pool);
  }
  *loop = (struct xb_loop){0};
}

enum xnn_status xb_run(struct xb_loop* loop, size_t runs, int64_t* ns) {
  const int64_t start = now();
  for (size_t i = 0; i < runs; i++) {
    const enum xnn_status status = xnn_invoke_runtime(loop->runtime);
    if (status != xnn_status_success) {
      return status;
    }
  }
  *ns = now() - start;
  return xnn_status_success;
}

enum xnn_status xb_load(const struct xb_spec* spec, size_t runs, void* a, void* b, void* y, int64_t* ns) {
  *ns = 0;
  for (size_t i = 0; i < runs; i++) {
    struct xb_loop loop;
    const int64_t start = now();
    const enum xnn_status status = xb_open(spec, 1, a, b, y, &loop);
    *ns += now() - start;
    if (status != xnn_status_success) {
      return status;
    }
    xb_close(&loop);
  }
  return xnn_status_success;
}

static void nothing(void* context, size_t i) {
  (void) context;
  (void) i;
}

void xb_quiet(struct xb_loop* loop) {
  if (loop->pool != NULL) {
    pthreadpool_parallelize_1d(loop->pool, nothing, NULL, 2, PTHREADPOOL_FLAG_YIELD_WORKERS);
  }
}
