// Nodes that multiply matrices.
#ifndef XG_DEFINE_MATMUL_H
#define XG_DEFINE_MATMUL_H

#include "bridge.h"

// Defines a node that multiplies rows with a filter. bias may be XNN_INVALID_VALUE_ID; transposed: the filter has its output
// channels last; flatten: the input is cut into rows whatever its shape. Constants it packs must outlive the subgraph.
enum xnn_status xg_define_fully_connected(xnn_subgraph_t subgraph, float min, float max, uint32_t input, uint32_t filter,
                                          uint32_t bias, uint32_t out, bool transposed, bool flatten,
                                          struct xg_message* message);

// Defines a node that multiplies matrices, those of b transposed if asked for.
enum xnn_status xg_define_batch_matrix_multiply(xnn_subgraph_t subgraph, uint32_t a, uint32_t b, uint32_t out, bool transposed,
                                                struct xg_message* message);

#endif
