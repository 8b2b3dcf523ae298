// Element-wise nodes.
#ifndef XG_DEFINE_ELEMENTWISE_H
#define XG_DEFINE_ELEMENTWISE_H

#include "bridge.h"

// Defines an element-wise node of one operand. What a and b mean depends on the operator: the limits of a clamp, the alpha of
// an ELU, the slope of a leaky ReLU; the others have no parameters.
enum xnn_status xg_define_unary(xnn_subgraph_t subgraph, enum xnn_unary_operator op, float a, float b, uint32_t input,
                                uint32_t output, struct xg_message* message);

// Defines an element-wise node of two operands, broadcast against each other. Its result has no limits: XNNPACK adds a clamp
// of its own only to some element types, and ends the process for the others.
enum xnn_status xg_define_binary(xnn_subgraph_t subgraph, enum xnn_binary_operator op, uint32_t a, uint32_t b, uint32_t output,
                                 struct xg_message* message);

// The number 1, a scalar constant for nodes, with the bytes behind it that kernels may read.
const void* xg_one(void);

#endif
