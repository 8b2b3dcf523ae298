#include "bridge.h"

#include <cpuinfo.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum xnn_status xg_tiles_create(size_t rank, const size_t* extent, size_t operands, size_t lanes, size_t times,
                                struct xg_pool* pool, struct xg_tiles** out) {
  struct xg_tiles* t = xg_alloc(xg_purpose_bridge, sizeof(*t));
  if (t == NULL) {
    return xnn_status_out_of_memory;
  }
  t->rank = rank;
  t->count = 1;
  for (size_t d = 0; d < rank; d++) {
    t->extent[d] = extent[d];
    t->count *= extent[d];
  }
  t->operands_count = operands;
  t->operands = xg_alloc(xg_purpose_bridge, operands * sizeof(*t->operands));
  t->lanes_count = lanes;
  t->lanes = xg_alloc(xg_purpose_bridge, lanes * sizeof(*t->lanes));
  t->times_count = times;
  t->times = xg_alloc(xg_purpose_bridge, lanes * 2 * times * sizeof(*t->times));
  t->pool = pool;
  if (t->operands == NULL || t->lanes == NULL || t->times == NULL) {
    xg_tiles_delete(t);
    return xnn_status_out_of_memory;
  }
  *out = t;
  return xnn_status_success;
}

void xg_tiles_delete(struct xg_tiles* tiles) {
  if (tiles == NULL) {
    return;
  }
  xg_free(tiles->operands);
  xg_free(tiles->lanes);
  xg_free(tiles->times);
  xg_free(tiles);
}

// Adds the times of what the runtime ran last to the sums of its lane.
static void add_times(const struct xg_tiles* t, struct xg_runtime* runtime, uint64_t* sums) {
  uint64_t* ns = sums + t->times_count;
  xg_node_times(runtime, t->times_count, ns);
  for (size_t i = 0; i < t->times_count; i++) {
    sums[i] += ns[i];
  }
}

static enum xnn_status run_tile(struct xg_tiles* t, const struct xg_lane* lane, uint64_t* sums, size_t index) {
  // The place of the tile in the grid, last dimension fastest.
  size_t at[XNN_MAX_TENSOR_DIMS];
  for (size_t d = t->rank; d-- > 0;) {
    at[d] = index % t->extent[d];
    index /= t->extent[d];
  }
  const bool last = t->rank > 0 && at[t->rank - 1] == t->extent[t->rank - 1] - 1;
  struct xg_runtime* runtime = last ? lane->last : lane->full;
  for (size_t i = 0; i < t->operands_count; i++) {
    const struct xg_operand* operand = &t->operands[i];
    char* data = operand->base;
    for (size_t d = 0; d < t->rank; d++) {
      data += at[d] * operand->strides[d];
    }
    runtime->externals[i] = (struct xnn_external_value){.id = (uint32_t) i, .data = data};
  }
  runtime->bound = false;
  const enum xnn_status status = xg_runtime_run(runtime);
  if (t->times_count != 0 && status == xnn_status_success) {
    add_times(t, runtime, sums);
  }
  return status;
}

// Runs the tiles that an owner has left, one by one. False when one failed.
static bool run_tiles_of(struct xg_tiles* t, struct xg_lane* owner, const struct xg_lane* lane, uint64_t* sums) {
  for (;;) {
    const size_t tile = atomic_fetch_add_explicit(&owner->next, 1, memory_order_relaxed);
    if (tile >= owner->end) {
      return true;
    }
    const enum xnn_status status = run_tile(t, lane, sums, tile);
    if (status != xnn_status_success) {
      atomic_store_explicit(&t->status, status, memory_order_relaxed);
    }
    if (atomic_load_explicit(&t->status, memory_order_relaxed) != xnn_status_success) {
      return false;
    }
  }
}

static void run_lane(void* context, size_t index) {
  struct xg_tiles* t = context;
  uint64_t* sums = t->times + index * 2 * t->times_count;
  memset(sums, 0, t->times_count * sizeof(*sums));
  for (size_t i = 0; i < t->lanes_count; i++) {
    if (!run_tiles_of(t, &t->lanes[(index + i) % t->lanes_count], &t->lanes[index], sums)) {
      return;
    }
  }
}

enum xnn_status xg_tiles_run(struct xg_tiles* t) {
  for (size_t i = 0; i < t->lanes_count; i++) {
    // The products stay small: a grid has fewer tiles than elements.
    atomic_store_explicit(&t->lanes[i].next, t->count * i / t->lanes_count, memory_order_relaxed);
    t->lanes[i].end = t->count * (i + 1) / t->lanes_count;
  }
  atomic_store_explicit(&t->status, xnn_status_success, memory_order_relaxed);
  if (t->pool == NULL) {
    run_lane(t, 0);
  } else {
    xg_pool_spread(t->pool);
    pthreadpool_parallelize_1d(t->pool->pool, run_lane, t, t->lanes_count,
                               PTHREADPOOL_FLAG_DISABLE_DENORMALS | PTHREADPOOL_FLAG_YIELD_WORKERS);
  }
  return (enum xnn_status) atomic_load_explicit(&t->status, memory_order_relaxed);
}

size_t xg_cache_bytes(int level) {
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  // The C library reads the processor's older tables, too, which are all that some virtual machines show.
  const long size = sysconf(level == 1 ? _SC_LEVEL1_DCACHE_SIZE : _SC_LEVEL2_CACHE_SIZE);
  if (size > 0) {
    return (size_t) size;
  }
#endif
  if (!cpuinfo_initialize()) {
    return 0;
  }
  const struct cpuinfo_cache* cache = level == 1 ? cpuinfo_get_l1d_cache(0) : cpuinfo_get_l2_cache(0);
  return cache == NULL ? 0 : cache->size;
}

void xg_tiles_times(const struct xg_tiles* t, uint64_t* ns) {
  for (size_t i = 0; i < t->times_count; i++) {
    ns[i] = 0;
    for (size_t lane = 0; lane < t->lanes_count; lane++) {
      ns[i] += t->times[lane * 2 * t->times_count + i];
    }
    ns[i] /= t->lanes_count;
  }
}
