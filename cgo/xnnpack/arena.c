#include "bridge.h"

#include <stdint.h>
#include <string.h>

// The arena that this thread is planning in.
static __thread struct xg_arena* planning;

bool xg_arena_planning(void) { return planning != NULL; }

void* xg_arena_lend(size_t size) {
  struct xg_arena* arena = planning;
  if (size > SIZE_MAX / 2 - arena->next) {
    return NULL;
  }
  const size_t at = (arena->next + XG_BLOCK_ALIGN - 1) & ~(size_t) (XG_BLOCK_ALIGN - 1);
  arena->next = at + size;
  if (arena->needed < arena->next) {
    arena->needed = arena->next;
  }
  // Past the end nothing is lent but an address to plan with: the caller sees from needed that it has to plan again.
  char* base = arena->next <= arena->capacity ? arena->base : (char*) XG_ARENA_ALIGN;
  return base + at;
}

enum xnn_status xg_arena_resize(struct xg_arena* arena, size_t capacity) {
  xg_free(arena->base);
  arena->base = NULL;
  arena->capacity = 0;
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
  }
  runtime->bound = false;
  xg_message_end(message);
  return status;
}
