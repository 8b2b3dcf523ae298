#include "define_pool.h"

enum xnn_status xg_define_average_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* p, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_average_pooling_2d(
      subgraph, p->padding_top, p->padding_right, p->padding_bottom, p->padding_left, p->kernel_height, p->kernel_width,
      p->stride_height, p->stride_width, p->min, p->max, p->input, p->output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_max_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* p, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_max_pooling_2d(
      subgraph, p->padding_top, p->padding_right, p->padding_bottom, p->padding_left, p->kernel_height, p->kernel_width,
      p->stride_height, p->stride_width, p->dilation_height, p->dilation_width, p->min, p->max, p->input, p->output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_argmax_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* p, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status =
      xnn_define_argmax_pooling_2d(subgraph, p->padding_top, p->padding_right, p->padding_bottom, p->padding_left,
                                   p->kernel_height, p->kernel_width, p->input, p->output, p->index, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_unpooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* p, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status =
      xnn_define_unpooling_2d(subgraph, p->padding_top, p->padding_right, p->padding_bottom, p->padding_left,
                              p->kernel_height, p->kernel_width, p->input, p->index, p->output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_static_resize_bilinear_2d(xnn_subgraph_t subgraph, size_t height, size_t width, uint32_t input,
                                                    uint32_t output, uint32_t flags, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_static_resize_bilinear_2d(subgraph, height, width, input, output, flags);
  xg_message_end(message);
  return status;
}
