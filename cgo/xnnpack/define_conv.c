#include "define_conv.h"

enum xnn_status xg_define_convolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* c, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_convolution_2d(
      subgraph, c->padding_top, c->padding_right, c->padding_bottom, c->padding_left, c->kernel_height, c->kernel_width,
      c->stride_height, c->stride_width, c->dilation_height, c->dilation_width, c->groups, c->group_inputs, c->group_outputs,
      c->min, c->max, c->input, c->filter, c->bias, c->output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_depthwise_convolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* c,
                                                   struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_depthwise_convolution_2d(
      subgraph, c->padding_top, c->padding_right, c->padding_bottom, c->padding_left, c->kernel_height, c->kernel_width,
      c->stride_height, c->stride_width, c->dilation_height, c->dilation_width, (uint32_t) c->group_outputs, c->groups, c->min,
      c->max, c->input, c->filter, c->bias, c->output, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_deconvolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* c, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_deconvolution_2d(
      subgraph, c->padding_top, c->padding_right, c->padding_bottom, c->padding_left, c->adjustment_height,
      c->adjustment_width, c->kernel_height, c->kernel_width, c->stride_height, c->stride_width, c->dilation_height,
      c->dilation_width, c->groups, c->group_inputs, c->group_outputs, c->min, c->max, c->input, c->filter, c->bias, c->output,
      0);
  xg_message_end(message);
  return status;
}
