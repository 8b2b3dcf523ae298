// Nodes that take one value of each window of an image, and the like.
#ifndef XG_DEFINE_POOL_H
#define XG_DEFINE_POOL_H

#include "bridge.h"

// A pooling window, and the values it works on.
struct xg_pooling {
  uint32_t padding_top, padding_right, padding_bottom, padding_left;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_height, stride_width;      // not of argmax pooling and unpooling, whose windows are adjacent
  uint32_t dilation_height, dilation_width;  // of max pooling
  float min, max;                            // limits of the result, infinite for none; of average and max pooling
  uint32_t input, index, output;             // index: the second result of argmax pooling, the second operand of unpooling
};

// Each defines a node. The struct need not outlive the call.
enum xnn_status xg_define_average_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* pooling,
                                             struct xg_message* message);
enum xnn_status xg_define_max_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* pooling, struct xg_message* message);
enum xnn_status xg_define_argmax_pooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* pooling,
                                            struct xg_message* message);
enum xnn_status xg_define_unpooling_2d(xnn_subgraph_t subgraph, const struct xg_pooling* pooling, struct xg_message* message);

// Defines a node that resizes images; flags are XNN_FLAG_ALIGN_CORNERS, XNN_FLAG_TENSORFLOW_LEGACY_MODE or none.
enum xnn_status xg_define_static_resize_bilinear_2d(xnn_subgraph_t subgraph, size_t height, size_t width, uint32_t input,
                                                    uint32_t output, uint32_t flags, struct xg_message* message);

#endif
