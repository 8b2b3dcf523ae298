#define _GNU_SOURCE  // sched_getcpu, gettid
#include "bridge.h"

#ifdef __linux__

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

// What all threads of a new pool do once, each of them, since none gets past the barrier before all are there.
struct roll_call {
  struct xg_pool* pool;
  pthread_barrier_t all;
};

static void answer(void* context, size_t index) {
  struct roll_call* call = context;
  call->pool->threads[index] = gettid();
  pthread_barrier_wait(&call->all);
}

// Learns the ids of the pool's threads.
static void call_roll(struct xg_pool* p) {
  struct roll_call call = {.pool = p};
  if (pthread_barrier_init(&call.all, NULL, (unsigned) p->threads_count) != 0) {
    p->threads_count = 0;  // then they are not moved
    return;
  }
  pthreadpool_parallelize_1d(p->pool, answer, &call, p->threads_count, PTHREADPOOL_FLAG_YIELD_WORKERS);
  pthread_barrier_destroy(&call.all);
  p->caller = gettid();
}

void xg_pool_spread(struct xg_pool* pool) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE || atomic_exchange_explicit(&pool->avoided, cpu, memory_order_relaxed) == cpu) {
    return;
  }
  cpu_set_t others;
  if (sched_getaffinity(0, sizeof(others), &others) != 0) {
    return;
  }
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0) {
    return;
  }
  for (size_t i = 0; i < pool->threads_count; i++) {
    if (pool->threads[i] != pool->caller) {
      sched_setaffinity(pool->threads[i], sizeof(others), &others);
    }
  }
}

#else

static void call_roll(struct xg_pool* p) { (void) p; }

void xg_pool_spread(struct xg_pool* pool) { (void) pool; }

#endif

enum xnn_status xg_pool_create(size_t threads, struct xg_pool** out) {
  struct xg_pool* p = xg_alloc(xg_purpose_bridge, sizeof(*p));
  if (p == NULL) {
    return xnn_status_out_of_memory;
  }
  p->avoided = -1;
  p->threads_count = threads;
  p->threads = xg_alloc(xg_purpose_bridge, threads * sizeof(*p->threads));
  p->pool = pthreadpool_create(threads);
  if (p->threads == NULL || p->pool == NULL) {
    xg_pool_delete(p);
    return xnn_status_out_of_memory;
  }
  call_roll(p);
  *out = p;
  return xnn_status_success;
}

void xg_pool_delete(struct xg_pool* pool) {
  if (pool == NULL) {
    return;
  }
  if (pool->pool != NULL) {
    pthreadpool_destroy(pool->pool);
  }
  xg_free(pool->threads);
  xg_free(pool);
}
