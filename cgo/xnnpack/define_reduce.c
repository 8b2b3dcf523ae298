#include "define_reduce.h"

enum xnn_status xg_define_reduce(xnn_subgraph_t subgraph, enum xnn_reduce_operator op, size_t count, const int64_t* axes,
                                 bool keep_dims, uint32_t input, uint32_t output, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status =
      xnn_define_static_reduce_v2(subgraph, op, count, axes, input, output, keep_dims ? XNN_FLAG_KEEP_DIMS : 0);
  xg_message_end(message);
  return status;
}
