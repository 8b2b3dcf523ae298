#include "define_elementwise.h"

enum xnn_status xg_define_unary(xnn_subgraph_t subgraph, enum xnn_unary_operator op, float a, float b, uint32_t input,
                                uint32_t output, struct xg_message* message) {
  union xnn_unary_params params = {.clamp = {.min = 0, .max = 0}};
  const union xnn_unary_params* given = &params;
  switch (op) {
    case xnn_unary_clamp:
      params.clamp.min = a;
      params.clamp.max = b;
      break;
    case xnn_unary_elu:
      params.elu.alpha = a;
      break;
    case xnn_unary_leaky_relu:
      params.leaky_relu.negative_slope = a;
      break;
    default:
      given = NULL;
  }
  xg_message_begin();
  const enum xnn_status status = xnn_define_unary(subgraph, op, given, input, output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_binary(xnn_subgraph_t subgraph, enum xnn_binary_operator op, uint32_t a, uint32_t b, uint32_t output,
                                 struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_binary(subgraph, op, NULL, a, b, output, 0);
  xg_message_end(message);
  return status;
}

const void* xg_one(void) {
  static const float one[(XG_BLOCK_ALIGN + XNN_EXTRA_BYTES) / sizeof(float)] __attribute__((aligned(XG_BLOCK_ALIGN))) = {1};
  return one;
}
