#include "bridge.h"

#include <string.h>

// Added to XNNPACK's runtime.c by a patch of ours, since its own profile drops what lies below a microsecond.
size_t xg_runtime_node_times(xnn_runtime_t runtime, size_t capacity, uint64_t* ns);

enum xnn_status xg_runtime_create(xnn_subgraph_t subgraph, struct xg_weights* weights, const uint64_t* keys, size_t nodes,
                                  struct xg_pool* pool, bool profile, size_t externals, struct xg_runtime** out,
                                  struct xg_message* message) {
  xg_message_begin();
  enum xnn_status status = xnn_status_out_of_memory;
  struct xg_runtime* r = xg_alloc(xg_purpose_bridge, sizeof(*r));
  if (r == NULL) {
    goto done;
  }
  r->pool = pool;
  r->externals_count = externals;
  r->externals = xg_alloc(xg_purpose_bridge, externals * sizeof(*r->externals));
  if (r->externals == NULL) {
    goto done;
  }
  const pthreadpool_t threads = pool == NULL ? NULL : pool->pool;
  // Workers sleep after the last node of a run, so that an idle session costs nothing.
  uint32_t flags = XNN_FLAG_YIELD_WORKERS;
  if (profile) {
    flags |= XNN_FLAG_BASIC_PROFILING;
  }
  if (weights == NULL) {
    status = xnn_create_runtime_v2(subgraph, threads, flags, &r->runtime);
  } else {
    xg_weights_begin(keys, nodes);
    status = xnn_create_runtime_v3(subgraph, xg_weights_provider(weights), threads, flags, &r->runtime);
    xg_weights_end(weights);
  }

done:
  if (status == xnn_status_success) {
    *out = r;
  } else {
    xg_runtime_delete(r);
  }
  xg_message_end(message);
  return status;
}

void xg_runtime_delete(struct xg_runtime* runtime) {
  if (runtime == NULL) {
    return;
  }
  xnn_delete_runtime(runtime->runtime);
  xg_free(runtime->externals);
  xg_free(runtime);
}

enum xnn_status xg_runtime_shape(struct xg_runtime* runtime, uint32_t id, size_t* rank, size_t* dims,
                                 struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_get_external_value_shape(runtime->runtime, id, rank, dims);
  xg_message_end(message);
  return status;
}

void xg_runtime_bind(struct xg_runtime* runtime, size_t index, uint32_t id, void* data) {
  runtime->externals[index] = (struct xnn_external_value){.id = id, .data = data};
  runtime->bound = false;
}

enum xnn_status xg_runtime_run(struct xg_runtime* r) {
  if (!r->bound) {
    const enum xnn_status status = xnn_setup_runtime_v2(r->runtime, r->externals_count, r->externals);
    if (status != xnn_status_success) {
      return status;
    }
    r->bound = true;
  }
  if (r->pool != NULL) {
    xg_pool_spread(r->pool);
  }
  return xnn_invoke_runtime(r->runtime);
}

size_t xg_node_times(struct xg_runtime* runtime, size_t capacity, uint64_t* ns) {
  return xg_runtime_node_times(runtime->runtime, capacity, ns);
}
