// Nodes that multiply a sliding window with a filter.
#ifndef XG_DEFINE_CONV_H
#define XG_DEFINE_CONV_H

#include "bridge.h"

// A convolution, also a depthwise or transposed one.
struct xg_conv {
  uint32_t padding_top, padding_right, padding_bottom, padding_left;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_height, stride_width;
  uint32_t dilation_height, dilation_width;
  uint32_t adjustment_height, adjustment_width;  // of a transposed convolution
  uint32_t groups;                               // of a depthwise convolution, its input channels
  size_t group_inputs, group_outputs;            // channels; of a depthwise convolution, 1 and the multiplier
  float min, max;                                // limits of the result, infinite for none
  uint32_t input, filter, bias, output;          // bias may be XNN_INVALID_VALUE_ID
};

// Each defines a node. The struct need not outlive the call, the constants must outlive the runtimes.
enum xnn_status xg_define_convolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* conv, struct xg_message* message);
enum xnn_status xg_define_depthwise_convolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* conv,
                                                   struct xg_message* message);
enum xnn_status xg_define_deconvolution_2d(xnn_subgraph_t subgraph, const struct xg_conv* conv, struct xg_message* message);

#endif
