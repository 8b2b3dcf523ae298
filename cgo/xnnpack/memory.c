#define _GNU_SOURCE  // mremap
#include "bridge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Every byte the bridge and XNNPACK hold comes from here and is counted by purpose.

// struct header lies in the XG_BLOCK_ALIGN bytes before a block.
struct header {
  void* raw;  // what malloc or mmap gave
  size_t size;
  size_t total;  // with header, alignment and tail
  enum xg_purpose purpose;
  bool mapped;
};

_Static_assert(sizeof(struct header) <= XG_BLOCK_ALIGN, "header must fit before a block");

static _Atomic int64_t held_bytes[xg_purpose_count];
static _Atomic int64_t held_blocks[xg_purpose_count];

static void count(enum xg_purpose purpose, int64_t bytes, int64_t blocks) {
  atomic_fetch_add_explicit(&held_bytes[purpose], bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&held_blocks[purpose], blocks, memory_order_relaxed);
}

static struct header* header_of(void* pointer) { return (struct header*) ((char*) pointer - XG_BLOCK_ALIGN); }

// Large blocks are mapped, so that they go back to the system when they are freed: malloc would keep them, in one heap for
// each thread. The address sanitizer watches malloc only.
#ifdef __SANITIZE_ADDRESS__
enum { map_from = 0 };
#else
enum { map_from = 1 << 20 };
#endif

// No process addresses more; sanitizers abort where an allocator is asked for absurd sizes.
static const size_t max_size = SIZE_MAX / 2 < (uint64_t) 1 << 47 ? SIZE_MAX / 2 : (size_t) 1 << 47;

// The size of a huge page. Where another is right this costs some address space while a block is made.
#define HUGE_PAGE ((size_t) 2 << 20)

// What a block of so many bytes takes, with the page before it. Weights, which are read wholly, take whole huge pages where small
// ones would be many: finding those takes long, measured in a virtual machine 200 ms for 64 MB against 6.
static size_t mapped_size(enum xg_purpose purpose, size_t size) {
  const size_t page = (size_t) sysconf(_SC_PAGESIZE);
  const bool whole = (purpose == xg_purpose_constants || purpose == xg_purpose_weights) && size % HUGE_PAGE >= HUGE_PAGE / 4;
  return page + (whole ? (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1) : size);
}

// map gives zeroed pages of that many bytes, NULL where there are none: a block at the start of a huge page, and the page before,
// which holds its header. A block of the kernel's choice would straddle huge pages and have small ones at both ends: measured, a
// chain over tensors of 4 MB then takes up to twice as long.
static char* map(size_t total) {
  const size_t page = (size_t) sysconf(_SC_PAGESIZE);
  const size_t kept = (total + page - 1) & ~(page - 1);
  char* reserved = mmap(NULL, kept + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) {
    return NULL;
  }
  char* pointer = (char*) (((uintptr_t) reserved + page + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
  char* end = pointer - page + kept;
  if (pointer - page > reserved) {
    munmap(reserved, (size_t) (pointer - page - reserved));
  }
  if (reserved + kept + HUGE_PAGE > end) {
    munmap(end, (size_t) (reserved + kept + HUGE_PAGE - end));
  }
#ifdef MADV_HUGEPAGE
  // A wish: where it is not granted small pages do. With the header, since mremap takes what was advised differently for two.
  madvise(pointer - page, kept, MADV_HUGEPAGE);
#endif
  return pointer;
}

static void* take(enum xg_purpose purpose, size_t align, size_t size, bool zero) {
  if (size > max_size) {
    return NULL;
  }
  const size_t around = XG_BLOCK_ALIGN + align + XNN_EXTRA_BYTES;
  const bool mapped = map_from != 0 && size + around >= map_from;
  struct header h = {.size = size, .total = size + around, .purpose = purpose, .mapped = mapped};
  char* pointer;
  if (mapped) {
    h.total = mapped_size(purpose, size + XNN_EXTRA_BYTES);
    pointer = map(h.total);
    if (pointer == NULL) {
      return NULL;
    }
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    h.raw = pointer - page;
  } else {
    h.raw = zero ? calloc(1, h.total) : malloc(h.total);
    if (h.raw == NULL) {
      return NULL;
    }
    pointer = (char*) (((uintptr_t) h.raw + XG_BLOCK_ALIGN + align - 1) & ~(uintptr_t) (align - 1));
  }
  *header_of(pointer) = h;
  count(purpose, (int64_t) h.total, 1);
  return pointer;
}

void* xg_alloc(enum xg_purpose purpose, size_t size) {
  return take(purpose, purpose == xg_purpose_arena ? XG_ARENA_ALIGN : XG_BLOCK_ALIGN, size, true);
}

void xg_free(void* pointer) {
  if (pointer == NULL) {
    return;
  }
  const struct header* h = header_of(pointer);
  count(h->purpose, -(int64_t) h->total, -1);
  if (h->mapped) {
    munmap(h->raw, h->total);
  } else {
    free(h->raw);
  }
}

void xg_populate(void* pointer, size_t size) {
  const struct header* h = header_of(pointer);
  if (!h->mapped) {
    return;
  }
#ifdef MADV_POPULATE_WRITE
  // From the start of the mapping, which is a page's. An older kernel knows no such advice: then the first run finds the pages.
  const size_t before = (size_t) ((char*) pointer - (char*) h->raw);
  madvise(h->raw, before + size, MADV_POPULATE_WRITE);
#else
  (void) size;
#endif
}

void xg_memory_stats(int64_t* bytes, int64_t* blocks) {
  for (int i = 0; i < xg_purpose_count; i++) {
    bytes[i] = atomic_load_explicit(&held_bytes[i], memory_order_relaxed);
    blocks[i] = atomic_load_explicit(&held_blocks[i], memory_order_relaxed);
  }
}

size_t xg_extra_bytes(void) { return XNN_EXTRA_BYTES; }

static void* allocate(void* context, size_t size) {
  (void) context;
  return take(xg_purpose_xnnpack, XG_BLOCK_ALIGN, size, false);
}

static void deallocate(void* context, void* pointer) {
  (void) context;
  xg_free(pointer);
}

#ifdef MREMAP_MAYMOVE
// Lets a mapped block grow where it is, or elsewhere without copying: XNNPACK grows its tables many times in small steps.
static void* remap(void* pointer, size_t size) {
  const struct header old = *header_of(pointer);
  const size_t total = old.total - old.size + size;
  char* raw = mremap(old.raw, old.total, total, MREMAP_MAYMOVE);
  if (raw == MAP_FAILED) {
    return NULL;
  }
  char* moved = raw + ((char*) pointer - (char*) old.raw);
  *header_of(moved) = (struct header){raw, size, total, old.purpose, true};
  count(old.purpose, (int64_t) total - (int64_t) old.total, 0);
  return moved;
}
#endif

static void* reallocate(void* context, void* pointer, size_t size) {
  if (pointer == NULL) {
    return allocate(context, size);
  }
  const size_t old = header_of(pointer)->size;
#ifdef MREMAP_MAYMOVE
  if (header_of(pointer)->mapped && size > old && size <= max_size) {
    return remap(pointer, size);
  }
#endif
  void* moved = allocate(context, size);
  if (moved != NULL) {
    memcpy(moved, pointer, old < size ? old : size);
    xg_free(pointer);
  }
  return moved;
}

static void* aligned_allocate(void* context, size_t alignment, size_t size) {
  (void) context;
  if (alignment == XG_ARENA_ALIGN && xg_arena_planning()) {
    return xg_arena_lend(size);
  }
  return take(xg_purpose_xnnpack, alignment < XG_BLOCK_ALIGN ? XG_BLOCK_ALIGN : alignment, size, false);
}

enum xnn_status xg_initialize(struct xg_message* message) {
  static const struct xnn_allocator allocator = {
    .allocate = allocate,
    .reallocate = reallocate,
    .deallocate = deallocate,
    .aligned_allocate = aligned_allocate,
    .aligned_deallocate = deallocate,
  };
  xg_message_begin();
  const enum xnn_status status = xnn_initialize(&allocator);
  xg_message_end(message);
  return status;
}
