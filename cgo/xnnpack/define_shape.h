// Nodes that move elements and change none.
#ifndef XG_DEFINE_SHAPE_H
#define XG_DEFINE_SHAPE_H

#include "bridge.h"

// Lists are copied; none is longer than XNN_MAX_TENSOR_DIMS, which XNNPACK does not check.

enum xnn_status xg_define_copy(xnn_subgraph_t subgraph, uint32_t input, uint32_t output, struct xg_message* message);

// One dimension of 0 is what the others leave.
enum xnn_status xg_define_reshape(xnn_subgraph_t subgraph, size_t rank, const size_t* dims, uint32_t input, uint32_t output,
                                  struct xg_message* message);

// The axes are places in the output's shape, in ascending order.
enum xnn_status xg_define_expand_dims(xnn_subgraph_t subgraph, size_t count, const size_t* axes, uint32_t input, uint32_t output,
                                      struct xg_message* message);

enum xnn_status xg_define_transpose(xnn_subgraph_t subgraph, size_t rank, const size_t* perm, uint32_t input, uint32_t output,
                                    struct xg_message* message);

// A size of 0 is that of the whole dimension.
enum xnn_status xg_define_slice(xnn_subgraph_t subgraph, size_t rank, const size_t* offsets, const size_t* sizes, uint32_t input,
                                uint32_t output, struct xg_message* message);

// The value is a real number, also where the tensors are quantised. The lists are as long as the input's rank.
enum xnn_status xg_define_pad(xnn_subgraph_t subgraph, const size_t* before, const size_t* after, float value, uint32_t input,
                              uint32_t output, struct xg_message* message);

// Two to five inputs.
enum xnn_status xg_define_concatenate(xnn_subgraph_t subgraph, int32_t axis, size_t count, const uint32_t* inputs,
                                      uint32_t output, struct xg_message* message);

// Two to four outputs.
enum xnn_status xg_define_even_split(xnn_subgraph_t subgraph, int32_t axis, uint32_t input, size_t count, const uint32_t* outputs,
                                     struct xg_message* message);

enum xnn_status xg_define_depth_to_space(xnn_subgraph_t subgraph, uint32_t block, uint32_t input, uint32_t output,
                                         struct xg_message* message);
enum xnn_status xg_define_space_to_depth(xnn_subgraph_t subgraph, uint32_t block, uint32_t input, uint32_t output,
                                         struct xg_message* message);

#endif
