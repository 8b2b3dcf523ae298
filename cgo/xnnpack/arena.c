#include "bridge.h"

#include <string.h>

// The arena of the runtime this thread is planning.
static __thread struct xg_arena* planning;

enum xnn_status xg_arena_reserve(struct xg_arena* arena, size_t capacity) {
  if (capacity == 0) {
    return xnn_status_success;
  }
  arena->base = xg_alloc(xg_purpose_arena, capacity);
  if (arena->base == NULL) {
    return xnn_status_out_of_memory;
  }
  arena->capacity = capacity;
  return xnn_status_success;
}

void xg_arena_free(struct xg_arena* arena) {
  xg_free(arena->base);
  xg_free(arena->retired);
  memset(arena, 0, sizeof(*arena));
}

void* xg_arena_lend(size_t size) {
  struct xg_arena* arena = planning;
  if (arena == NULL) {
    return NULL;
  }
  arena->needed = size;
  if (size <= arena->capacity) {
    return arena->base;
  }
  if (size > arena->limit) {
    return NULL;
  }
  void* larger = xg_alloc(xg_purpose_arena, size);
  if (larger == NULL) {
    return NULL;
  }
  arena->retired = arena->base;
  arena->base = larger;
  arena->capacity = size;
  return larger;
}

enum xnn_status xg_runtime_reshape(struct xg_runtime* runtime, struct xg_arena* arena, size_t count, const uint32_t* ids,
                                   const size_t* ranks, const size_t* dims, struct xg_message* message) {
  xg_message_begin();
  enum xnn_status status = xnn_status_success;
  for (size_t i = 0; i < count && status == xnn_status_success; i++) {
    status = xnn_reshape_external_value(runtime->runtime, ids[i], ranks[i], dims);
    dims += ranks[i];
  }
  if (status == xnn_status_success) {
    planning = arena;
    status = xnn_reshape_runtime(runtime->runtime);
    planning = NULL;
    xg_free(arena->retired);
    arena->retired = NULL;
  }
  runtime->bound = false;
  xg_message_end(message);
  return status;
}
