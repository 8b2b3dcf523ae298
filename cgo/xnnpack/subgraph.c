#include "bridge.h"

#include <math.h>

enum xnn_status xg_subgraph_create(uint32_t externals, xnn_subgraph_t* subgraph, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_create_subgraph(externals, 0, subgraph);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_tensor(xnn_subgraph_t subgraph, enum xnn_datatype datatype, size_t rank, const size_t* dims,
                                 const void* data, uint32_t external_id, uint32_t flags, uint32_t* id,
                                 struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status =
    xnn_define_tensor_value(subgraph, datatype, rank, dims, data, external_id, flags, id);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_binary(xnn_subgraph_t subgraph, enum xnn_binary_operator op, uint32_t a, uint32_t b, uint32_t out,
                                 struct xg_message* message) {
  xg_message_begin();
  // No params: XNNPACK adds no clamp, which would swallow NaN.
  const enum xnn_status status = xnn_define_binary(subgraph, op, NULL, a, b, out, 0);
  xg_message_end(message);
  return status;
}
