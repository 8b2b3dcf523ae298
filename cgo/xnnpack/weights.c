#include "bridge.h"

#include <pthread.h>
#include <string.h>

// Packed weights, kept for all runtimes of a model. XNNPACK asks while it creates an operator: whether there are weights for a
// key, then for room to pack into, then that what it packed be kept. Its own cache packs again for each runtime, takes no
// more once it is sealed, and tells two nodes with one filter apart by what does not tell them apart; this one goes by node.

// One node's packed weights.
struct entry {
  struct xg_packed packed;
  bool asked;   // XNNPACK looked before it packed, so it never needs the originals again
  bool sealed;  // the originals are gone
  bool own;     // the data are a block, and not part of one of the store's or of a file
  struct entry* next;
};

// A block that the weights of a first runtime are packed into, one behind the other: many blocks of their own would mean many
// small pages, whose finding takes longer than the packing.
struct chunk {
  char* data;
  size_t size;
  size_t used;
  struct chunk* next;
};

struct xg_weights {
  struct xnn_weights_cache_provider provider;
  pthread_mutex_t mutex;
  size_t limit;      // bytes
  size_t used;
  size_t refused;    // bytes of a request past the limit
  bool missed;       // a layout was asked for whose originals are gone
  size_t count;      // of entries
  size_t expected;   // bytes to come; 0 once the first runtime is made
  struct chunk* chunks;
  size_t heads_count;
  struct entry** heads;  // by key's node
};

// Which nodes a runtime of this thread is being created from, and what it is packing.
static _Thread_local struct {
  const uint64_t* keys;
  size_t count;
  bool asked;
  void* pending;  // reserved, not kept yet
  size_t pending_size;
  bool pending_own;
} making;

static uint64_t key_now(void) {
  return xg_creating_node < making.count ? making.keys[xg_creating_node] : UINT64_MAX;
}

static struct entry** head(struct xg_weights* w, uint64_t key) {
  const uint64_t node = key >> 8;
  return node < w->heads_count ? &w->heads[node] : NULL;
}

// The seed mixes in the node's flags by exclusive or, and the last node of a runtime has one more: which node that is depends on
// how a session cuts the graph, not on the weights.
static bool same_layout(uint32_t a, uint32_t b) { return a == b || (a ^ b) == XNN_FLAG_YIELD_WORKERS; }

static struct entry* find(struct xg_weights* w, uint64_t key, uint32_t seed, size_t size) {
  struct entry** h = head(w, key);
  for (struct entry* e = h == NULL ? NULL : *h; e != NULL; e = e->next) {
    if (e->packed.key == key && same_layout(e->packed.seed, seed) && e->packed.size == size) {
      return e;
    }
  }
  return NULL;
}

static size_t look_up(void* context, const struct xnn_weights_cache_look_up_key* k) {
  struct xg_weights* w = context;
  making.asked = true;
  pthread_mutex_lock(&w->mutex);
  const struct entry* e = find(w, key_now(), k->seed, k->size);
  pthread_mutex_unlock(&w->mutex);
  return e == NULL ? SIZE_MAX : (size_t) e->packed.data;
}

// take_chunk gives n bytes of the newest chunk, or of a new one. Only the first runtime gets here: by itself, so that what it
// gives back is always the last.
static void* take_chunk(struct xg_weights* w, size_t n) {
  n = (n + XG_BLOCK_ALIGN - 1) & ~(size_t) (XG_BLOCK_ALIGN - 1);
  struct chunk* c = w->chunks;
  if (c == NULL || n > c->size - c->used) {
    size_t size = c == NULL ? w->expected : w->expected / 8;
    size = size < n ? n : size;
    c = xg_alloc(xg_purpose_bridge, sizeof(*c));
    void* data = xg_alloc(xg_purpose_weights, size);
    if (c == NULL || data == NULL) {
      xg_free(c);
      xg_free(data);
      return NULL;
    }
    *c = (struct chunk){data, size, 0, w->chunks};
    w->chunks = c;
  }
  void* place = c->data + c->used;
  c->used += n;
  return place;
}

// Takes what was reserved off the account.
static void give_back(struct xg_weights* w) {
  pthread_mutex_lock(&w->mutex);
  w->used -= making.pending_size;
  pthread_mutex_unlock(&w->mutex);
  making.pending = NULL;
  making.pending_size = 0;
}

static void* reserve_space(void* context, size_t n) {
  struct xg_weights* w = context;
  pthread_mutex_lock(&w->mutex);
  const struct entry* const* h = (const struct entry* const*) head(w, key_now());
  const bool sealed = h != NULL && *h != NULL && (*h)->sealed;
  const bool fits = !sealed && n <= w->limit - w->used;
  if (fits) {
    w->used += n;
  } else if (!sealed) {
    w->refused = n;
  } else {
    w->missed = true;
  }
  pthread_mutex_unlock(&w->mutex);
  if (!fits) {
    return NULL;
  }
  making.pending_own = w->expected == 0;
  making.pending = making.pending_own ? xg_alloc(xg_purpose_weights, n) : take_chunk(w, n);
  making.pending_size = n;
  if (making.pending == NULL) {
    give_back(w);
  }
  return making.pending;
}

// Gives up what was reserved and not kept.
static void drop_pending(struct xg_weights* w) {
  if (making.pending == NULL) {
    return;
  }
  if (making.pending_own) {
    xg_free(making.pending);
  } else {
    w->chunks->used = (size_t) ((char*) making.pending - w->chunks->data);
  }
  give_back(w);
}

static size_t look_up_or_insert(void* context, const struct xnn_weights_cache_look_up_key* k, void* ptr, size_t size) {
  struct xg_weights* w = context;
  const uint64_t key = key_now();
  struct entry* fresh = xg_alloc(xg_purpose_weights, sizeof(*fresh));
  pthread_mutex_lock(&w->mutex);
  struct entry* e = find(w, key, k->seed, size);
  struct entry** h = head(w, key);
  const bool keep = e == NULL && h != NULL && fresh != NULL;
  if (keep) {
    const struct xg_packed packed = {.key = key, .seed = k->seed, .data = ptr, .size = size};
    *fresh = (struct entry){packed, making.asked, false, making.pending_own, *h};
    e = *h = fresh;
    w->count++;
  }
  pthread_mutex_unlock(&w->mutex);
  making.asked = false;
  if (keep) {
    making.pending = NULL;
    making.pending_size = 0;
    return (size_t) e->packed.data;
  }
  xg_free(fresh);
  if (e != NULL) {
    drop_pending(w);  // another session packed the same meanwhile
    return (size_t) e->packed.data;
  }
  return SIZE_MAX;
}

static bool is_finalized(void* context) {
  (void) context;
  return true;  // XNNPACK asks before it runs; here nothing moves once it is kept
}

static void* offset_to_addr(void* context, size_t offset) {
  (void) context;
  return (void*) offset;
}

static enum xnn_status delete_cache(void* context) {
  (void) context;
  return xnn_status_invalid_state;  // it is the bridge's to free
}

xnn_weights_cache_t xg_weights_provider(struct xg_weights* w) { return &w->provider; }

struct xg_weights* xg_weights_create(size_t nodes, size_t limit, size_t expected) {
  struct xg_weights* w = xg_alloc(xg_purpose_bridge, sizeof(*w));
  if (w == NULL) {
    return NULL;
  }
  w->provider = (struct xnn_weights_cache_provider){
    .context = w,
    .look_up = look_up,
    .reserve_space = reserve_space,
    .look_up_or_insert = look_up_or_insert,
    .is_finalized = is_finalized,
    .offset_to_addr = offset_to_addr,
    .delete_cache = delete_cache,
  };
  w->limit = limit;
  w->expected = expected < limit ? expected : limit;
  w->heads_count = nodes;
  w->heads = xg_alloc(xg_purpose_bridge, nodes * sizeof(*w->heads));
  if (w->heads == NULL || pthread_mutex_init(&w->mutex, NULL) != 0) {
    xg_free(w->heads);
    xg_free(w);
    return NULL;
  }
  return w;
}

void xg_weights_delete(struct xg_weights* w) {
  if (w == NULL) {
    return;
  }
  for (size_t i = 0; i < w->heads_count; i++) {
    for (struct entry* e = w->heads[i]; e != NULL;) {
      struct entry* next = e->next;
      if (e->own) {
        xg_free((void*) e->packed.data);
      }
      xg_free(e);
      e = next;
    }
  }
  for (struct chunk* c = w->chunks; c != NULL;) {
    struct chunk* next = c->next;
    xg_free(c->data);
    xg_free(c);
    c = next;
  }
  pthread_mutex_destroy(&w->mutex);
  xg_free(w->heads);
  xg_free(w);
}

void xg_weights_shared(struct xg_weights* w) { w->expected = 0; }

void xg_weights_size(struct xg_weights* w, size_t* used, size_t* refused) {
  pthread_mutex_lock(&w->mutex);
  *used = w->used;
  *refused = w->refused;
  pthread_mutex_unlock(&w->mutex);
}

bool xg_weights_missed(struct xg_weights* w) { return w->missed; }

bool xg_weights_add(struct xg_weights* w, const struct xg_packed* packed) {
  struct entry** h = head(w, packed->key);
  if (h == NULL || packed->size > w->limit - w->used) {
    return false;
  }
  struct entry* e = xg_alloc(xg_purpose_bridge, sizeof(*e));
  if (e == NULL) {
    return false;
  }
  *e = (struct entry){*packed, true, true, false, *h};
  *h = e;
  w->used += packed->size;
  w->count++;
  return true;
}

size_t xg_weights_list(struct xg_weights* w, struct xg_packed* out) {
  if (out == NULL) {
    return w->count;
  }
  size_t n = 0;
  for (size_t i = 0; i < w->heads_count; i++) {
    for (const struct entry* e = w->heads[i]; e != NULL; e = e->next) {
      out[n++] = e->packed;
    }
  }
  return n;
}

bool xg_weights_packed(struct xg_weights* w, size_t node) {
  pthread_mutex_lock(&w->mutex);
  const struct entry* e = node < w->heads_count ? w->heads[node] : NULL;
  bool packed = e != NULL;
  for (; e != NULL; e = e->next) {
    packed = packed && e->asked;
  }
  pthread_mutex_unlock(&w->mutex);
  return packed;
}

void xg_weights_seal(struct xg_weights* w, size_t node) {
  pthread_mutex_lock(&w->mutex);
  for (struct entry* e = node < w->heads_count ? w->heads[node] : NULL; e != NULL; e = e->next) {
    e->sealed = true;
  }
  pthread_mutex_unlock(&w->mutex);
}

void* xg_weights_nowhere(void) {
  static char nowhere[XG_BLOCK_ALIGN] __attribute__((aligned(XG_BLOCK_ALIGN)));
  return nowhere;
}

void xg_weights_begin(const uint64_t* keys, size_t count) {
  making.keys = keys;
  making.count = count;
  making.asked = false;
}

void xg_weights_end(struct xg_weights* w) {
  drop_pending(w);  // the operator was not created after all
  making.keys = NULL;
  making.count = 0;
}
