// The C side of package xnnpack: one function per operation of the Go side, so that each is one crossing.
//
// Every function returns an xnn_status and gives results through its last parameters. None calls back into Go and none
// keeps a pointer into Go memory. What XNNPACK logs while a function runs ends up in its xg_message.
#ifndef XG_BRIDGE_H
#define XG_BRIDGE_H

#if !defined(__has_include) || __has_include(<xnnpack.h>)
#include <xnnpack.h>
#include <pthreadpool.h>
#else
#error "XNNPACK is not built here: run ./build.sh native first, or link an installed archive with -tags xnn_system"
#endif

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Text for the error of a failed call: XNNPACK's own log lines, joined. Empty when it said nothing.
struct xg_message {
  char text[512];
};

// Starts collecting log lines of this thread; xg_message_end copies them to out.
void xg_message_begin(void);
void xg_message_end(struct xg_message* out);

// What a block of memory is for.
enum xg_purpose {
  xg_purpose_xnnpack,    // XNNPACK's own: descriptors, operators
  xg_purpose_constants,  // constants bound to a subgraph
  xg_purpose_weights,    // packed weights
  xg_purpose_tensors,    // inputs and outputs
  xg_purpose_arena,      // intermediate values
  xg_purpose_bridge,     // the descriptors of this file
  xg_purpose_count,
};

// The alignment of every block and every piece of an arena: the widest vector.
#define XG_BLOCK_ALIGN 64

// Zeroed memory at XG_BLOCK_ALIGN (arenas: page alignment) with XNN_EXTRA_BYTES readable behind it; NULL when there is
// none. The caller owns it and gives it back with xg_free.
void* xg_alloc(enum xg_purpose purpose, size_t size);
void xg_free(void* pointer);

// Finds pages now for the first size bytes of a block, which its first use would have to wait for.
void xg_populate(void* pointer, size_t size);

// Bytes and blocks held now for each purpose; each array has xg_purpose_count entries.
void xg_memory_stats(int64_t* bytes, int64_t* blocks);

// The number of bytes a kernel may read past the end of a tensor.
size_t xg_extra_bytes(void);

// Initialises XNNPACK with the allocator of this file. Once per process; later calls return the first answer.
enum xnn_status xg_initialize(struct xg_message* message);

// The memory a session lends to XNNPACK for intermediate values. The session owns it. Each plan takes the next piece of it;
// a round of plans starts with next and needed at 0. Where needed is more than capacity at its end, the pieces are no memory at all:
// the arena is resized and the round done again before anything runs.
struct xg_arena {
  char* base;       // NULL while capacity is 0
  size_t capacity;  // bytes at base
  size_t next;      // offset of the next piece
  size_t needed;    // end of the furthest piece since the round began
};

// The alignment of arenas, a page. The patched XNNPACK asks for its workspace, and for nothing else, at this alignment.
#define XG_ARENA_ALIGN 4096

// Whether this thread is planning in an arena. A runtime that others than this package make has none.
bool xg_arena_planning(void);

// Lends the next piece of the arena that this thread is planning in.
void* xg_arena_lend(size_t size);

// Gives back what the arena holds and reserves capacity bytes. Every plan made in it is void.
enum xnn_status xg_arena_resize(struct xg_arena* arena, size_t capacity);

// Creates a subgraph with this many external values, ids 0 to externals-1. The caller owns it: xnn_delete_subgraph.
enum xnn_status xg_subgraph_create(uint32_t externals, xnn_subgraph_t* subgraph, struct xg_message* message);

// A dense tensor to be defined.
struct xg_tensor {
  enum xnn_datatype datatype;
  size_t rank;
  size_t dims[XNN_MAX_TENSOR_DIMS];
  const void* data;      // of a constant, else NULL
  uint32_t external_id;
  uint32_t flags;
  // How its integers stand for real numbers; what counts depends on the datatype.
  float scale;
  int32_t zero_point;
  const void* scales;    // fp32 for each channel, or bf16 for each block
  size_t axis;
  size_t block;
  size_t inner;
};

// How many nodes have been defined, and the one a runtime of this thread is creating. Added to XNNPACK by a patch of ours.
size_t xg_subgraph_nodes(xnn_subgraph_t subgraph);
extern _Thread_local size_t xg_creating_node;

// Defines a tensor. What data and scales point to must outlive the subgraph and its runtimes; the struct need not.
enum xnn_status xg_define_tensor(xnn_subgraph_t subgraph, const struct xg_tensor* tensor, uint32_t* id,
                                 struct xg_message* message);

// Packed weights of a model's nodes, for all its runtimes. Safe from several threads.
struct xg_weights;

// Creates an empty store for nodes 0 to nodes-1 that takes at most limit bytes; NULL without memory. The first runtimes, up to
// xg_weights_shared, are made one after the other and are expected to pack that many bytes. The caller owns it: xg_weights_delete,
// after every runtime made with it.
struct xg_weights* xg_weights_create(size_t nodes, size_t limit, size_t expected);
void xg_weights_shared(struct xg_weights* weights);
void xg_weights_delete(struct xg_weights* weights);

// Weights packed for one node.
struct xg_packed {
  uint64_t key;
  uint32_t seed;  // XNNPACK's number of the kernel and its layout
  const void* data;
  size_t size;
};

// Adds weights that were packed before, by another process: data stay the caller's, at XG_BLOCK_ALIGN and with XNN_EXTRA_BYTES
// behind, and outlive the store. They are found where node, kernel and size agree. The originals of their node count as gone, as
// after xg_weights_seal. Only before the first runtime; false where the limit, or memory, has no room.
bool xg_weights_add(struct xg_weights* weights, const struct xg_packed* packed);

// Whether a runtime could not be made since weights were asked for that are not there and whose originals are gone.
bool xg_weights_missed(struct xg_weights* weights);

// All weights held, in no order, and their number; out may be NULL. They stay the store's. Not while runtimes are made.
size_t xg_weights_list(struct xg_weights* weights, struct xg_packed* out);

// What the layout of packed weights depends on besides the archive: bytes that tell processors apart, 0 where there is no room.
size_t xg_processor(size_t capacity, unsigned char* out);

// Bytes of packed weights held, and those of the last request that did not fit, or 0.
void xg_weights_size(struct xg_weights* weights, size_t* used, size_t* refused);

// Tells whether the node's weights are held so that no runtime reads the originals again.
bool xg_weights_packed(struct xg_weights* weights, size_t node);

// Refuses from now on to pack the node's weights again; see xg_weights_packed. The originals may be freed; XNNPACK is given an
// address from nowhere, which is never read, in their place.
void xg_weights_seal(struct xg_weights* weights, size_t node);
void* xg_weights_nowhere(void);

// Between begin and end this thread creates a runtime whose i-th node has the key keys[i]: the node of the model times 256,
// plus which part of it.
void xg_weights_begin(const uint64_t* keys, size_t count);
void xg_weights_end(struct xg_weights* weights);

// XNNPACK's view of the store.
xnn_weights_cache_t xg_weights_provider(struct xg_weights* weights);

// Threads that runtimes share.
struct xg_pool {
  pthreadpool_t pool;
  size_t threads_count;
  int* threads;         // the system's ids of all threads
  int caller;           // the id of the one that made the pool, which is no worker
  _Atomic int avoided;  // the processor that workers stay off, -1 for none
};

// Starts a pool of so many threads, the calling one counted. The caller owns it: xg_pool_delete, which stops the threads.
enum xnn_status xg_pool_create(size_t threads, struct xg_pool** out);
void xg_pool_delete(struct xg_pool* pool);

// Sends the workers off the processor that this thread runs on. The kernel wakes a worker where its waker runs when it takes
// the processors for ones without a common cache, as in many virtual machines; there the worker waits until the run is over.
void xg_pool_spread(struct xg_pool* pool);

// One XNNPACK runtime with what it is bound to, in C memory so that a run is one crossing.
struct xg_runtime {
  xnn_runtime_t runtime;
  size_t externals_count;
  struct xnn_external_value* externals;  // bound at the next run after a change
  bool bound;                            // externals are those XNNPACK knows
  struct xg_pool* pool;                  // NULL: runs on the calling thread
};

// Creates a runtime of the subgraph with room for this many externals. The caller owns it: xg_runtime_delete. It does not
// keep the subgraph, and keeps the pool and the weights, which may be NULL. There is a key for each node; see
// xg_weights_begin.
enum xnn_status xg_runtime_create(xnn_subgraph_t subgraph, struct xg_weights* weights, const uint64_t* keys, size_t nodes,
                                  struct xg_pool* pool, bool profile, size_t externals, struct xg_runtime** out,
                                  struct xg_message* message);
void xg_runtime_delete(struct xg_runtime* runtime);

// Gives external values these shapes (dims one after the other) and plans memory in the arena. After a failure the runtime
// can only be deleted.
enum xnn_status xg_runtime_reshape(struct xg_runtime* runtime, struct xg_arena* arena, size_t count, const uint32_t* ids,
                                   const size_t* ranks, const size_t* dims, struct xg_message* message);

// The shape XNNPACK gives an external value; dims has room for XNN_MAX_TENSOR_DIMS.
enum xnn_status xg_runtime_shape(struct xg_runtime* runtime, uint32_t id, size_t* rank, size_t* dims,
                                 struct xg_message* message);

// Sets the memory of one external value.
void xg_runtime_bind(struct xg_runtime* runtime, size_t index, uint32_t id, void* data);

// Binds what changed and runs the nodes.
enum xnn_status xg_runtime_run(struct xg_runtime* runtime);

// Nanoseconds of each node of the last run, in the order of definition; UINT64_MAX for a node fused into another. Writes at
// most capacity entries and returns the number of nodes. The runtime must have been made to profile.
size_t xg_node_times(struct xg_runtime* runtime, size_t capacity, uint64_t* ns);

// Where an external value of a tiled region lies, and how far it moves with each dimension of the grid.
struct xg_operand {
  char* base;
  size_t strides[XNN_MAX_TENSOR_DIMS];  // bytes; 0 along what the value is broadcast over
};

// What one thread runs tiles with, and the tiles that are its own: neighbours, since a core fetches ahead of what it reads.
struct xg_lane {
  struct xg_runtime* full;
  struct xg_runtime* last;  // for the last tile along the last dimension; the same as full where it is not smaller
  size_t end;               // of its tiles
  _Atomic size_t next;      // the tile to take
  char apart[64];           // lanes do not share cache lines
};

// A region of element-wise nodes, run tile by tile so that its intermediate values stay in the cache. A lane runs its own
// tiles, then helps others with theirs.
struct xg_tiles {
  size_t rank;
  size_t extent[XNN_MAX_TENSOR_DIMS];  // tiles along each dimension of the grid
  size_t count;                        // their product
  size_t operands_count;               // externals of each runtime, by id
  struct xg_operand* operands;
  size_t lanes_count;
  struct xg_lane* lanes;
  struct xg_pool* pool;     // NULL for one lane
  size_t times_count;       // nodes to profile, 0 for none
  uint64_t* times;          // for each lane, the nanoseconds of each node, all tiles added up, then those of one tile
  _Atomic uint32_t status;  // the first failure of a run
};

// Creates a region of this grid. Its lanes and operands are filled through the pointers in it; it owns neither the runtimes
// nor the pool. The caller owns it: xg_tiles_delete.
enum xnn_status xg_tiles_create(size_t rank, const size_t* extent, size_t operands, size_t lanes, size_t times,
                                struct xg_pool* pool, struct xg_tiles** out);
void xg_tiles_delete(struct xg_tiles* tiles);

// Runs every tile.
enum xnn_status xg_tiles_run(struct xg_tiles* tiles);

// Nanoseconds of each node of the last run, all tiles together, divided by the lanes that shared them.
void xg_tiles_times(const struct xg_tiles* tiles, uint64_t* ns);

// Bytes that a run copies after the steps.
struct xg_copy {
  void* to;
  const void* from;
  size_t size;
};

// A step is a runtime or a tiled region.
struct xg_step {
  struct xg_runtime* runtime;
  struct xg_tiles* tiles;
};

// What a session runs: steps in order, then copies. It owns neither.
struct xg_program {
  size_t steps_count;
  struct xg_step* steps;
  size_t copies_count;
  struct xg_copy* copies;
  struct xg_message message;  // of a failed run
};

enum xnn_status xg_program_create(size_t steps, size_t copies, struct xg_program** out);
void xg_program_delete(struct xg_program* program);

// Runs the program in one crossing.
enum xnn_status xg_run(struct xg_program* program);

// The size of the cache for data that a core has at level 1 or 2, 0 where the processor does not tell.
size_t xg_cache_bytes(int level);

// What the archive was built from, compiled into it.
extern const char xg_stamp[];
extern const char xg_pins[];

#endif
