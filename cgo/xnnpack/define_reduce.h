// Reductions.
#ifndef XG_DEFINE_REDUCE_H
#define XG_DEFINE_REDUCE_H

#include "bridge.h"

// Defines the sum or mean over some dimensions, which the output keeps with size 1 or loses. The axes are copied.
enum xnn_status xg_define_reduce(xnn_subgraph_t subgraph, enum xnn_reduce_operator op, size_t count, const int64_t* axes,
                                 bool keep_dims, uint32_t input, uint32_t output, struct xg_message* message);

#endif
