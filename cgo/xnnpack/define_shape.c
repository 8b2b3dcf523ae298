#include "define_shape.h"

enum xnn_status xg_define_copy(xnn_subgraph_t subgraph, uint32_t input, uint32_t output, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_copy(subgraph, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_reshape(xnn_subgraph_t subgraph, size_t rank, const size_t* dims, uint32_t input, uint32_t output,
                                  struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_reshape(subgraph, rank, dims, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_expand_dims(xnn_subgraph_t subgraph, size_t count, const size_t* axes, uint32_t input, uint32_t output,
                                      struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_expand_dims(subgraph, count, axes, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_transpose(xnn_subgraph_t subgraph, size_t rank, const size_t* perm, uint32_t input, uint32_t output,
                                    struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_transpose(subgraph, rank, perm, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_slice(xnn_subgraph_t subgraph, size_t rank, const size_t* offsets, const size_t* sizes, uint32_t input,
                                uint32_t output, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_slice(subgraph, rank, offsets, sizes, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_pad(xnn_subgraph_t subgraph, const size_t* before, const size_t* after, float value, uint32_t input,
                              uint32_t output, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_constant_pad(subgraph, before, after, value, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_concatenate(xnn_subgraph_t subgraph, int32_t axis, size_t count, const uint32_t* in,
                                      uint32_t output, struct xg_message* message) {
  xg_message_begin();
  enum xnn_status status = xnn_status_unsupported_parameter;
  switch (count) {
    case 2:
      status = xnn_define_concatenate2(subgraph, axis, in[0], in[1], output, 0);
      break;
    case 3:
      status = xnn_define_concatenate3(subgraph, axis, in[0], in[1], in[2], output, 0);
      break;
    case 4:
      status = xnn_define_concatenate4(subgraph, axis, in[0], in[1], in[2], in[3], output, 0);
      break;
    case 5:
      status = xnn_define_concatenate5(subgraph, axis, in[0], in[1], in[2], in[3], in[4], output, 0);
      break;
  }
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_even_split(xnn_subgraph_t subgraph, int32_t axis, uint32_t input, size_t count, const uint32_t* out,
                                     struct xg_message* message) {
  xg_message_begin();
  enum xnn_status status = xnn_status_unsupported_parameter;
  switch (count) {
    case 2:
      status = xnn_define_even_split2(subgraph, axis, input, out[0], out[1], 0);
      break;
    case 3:
      status = xnn_define_even_split3(subgraph, axis, input, out[0], out[1], out[2], 0);
      break;
    case 4:
      status = xnn_define_even_split4(subgraph, axis, input, out[0], out[1], out[2], out[3], 0);
      break;
  }
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_depth_to_space(xnn_subgraph_t subgraph, uint32_t block, uint32_t input, uint32_t output,
                                         struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_depth_to_space_2d(subgraph, block, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_space_to_depth(xnn_subgraph_t subgraph, uint32_t block, uint32_t input, uint32_t output,
                                         struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_space_to_depth_2d(subgraph, block, input, output, 0);
  xg_message_end(message);
  return status;
}
