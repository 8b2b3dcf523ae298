// Nodes that transformers have besides products of matrices.
#ifndef XG_DEFINE_ATTENTION_H
#define XG_DEFINE_ATTENTION_H

#include "bridge.h"

// Defines a node that takes the softmax along the last dimension.
enum xnn_status xg_define_softmax(xnn_subgraph_t subgraph, uint32_t input, uint32_t out, struct xg_message* message);

// Defines a node of scaled dot-product attention, its logits limited to cap*tanh(logits/cap) unless cap is 0. XNNPACK holds every
// reshape to the shape that out has now.
enum xnn_status xg_define_attention(xnn_subgraph_t subgraph, float cap, uint32_t query, uint32_t key, uint32_t value,
                                    uint32_t scale, uint32_t mask, uint32_t out, struct xg_message* message);

// Defines a node that rotates pairs of channels. XNNPACK does not look at the shape of the weights.
enum xnn_status xg_define_rope(xnn_subgraph_t subgraph, size_t max_tokens, uint32_t input, uint32_t weights, uint32_t out,
                               struct xg_message* message);

#endif
