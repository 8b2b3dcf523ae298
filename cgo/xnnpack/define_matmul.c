#include "define_matmul.h"

enum xnn_status xg_define_fully_connected(xnn_subgraph_t subgraph, float min, float max, uint32_t input, uint32_t filter,
                                          uint32_t bias, uint32_t out, bool transposed, bool flatten,
                                          struct xg_message* message) {
  xg_message_begin();
  const uint32_t flags = (transposed ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0) | (flatten ? XNN_FLAG_TENSORFLOW_RESHAPE_2D : 0);
  const enum xnn_status status = xnn_define_fully_connected(subgraph, min, max, input, filter, bias, out, flags);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_batch_matrix_multiply(xnn_subgraph_t subgraph, uint32_t a, uint32_t b, uint32_t out, bool transposed,
                                                struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status =
    xnn_define_batch_matrix_multiply(subgraph, a, b, out, transposed ? XNN_FLAG_TRANSPOSE_B : 0);
  xg_message_end(message);
  return status;
}
