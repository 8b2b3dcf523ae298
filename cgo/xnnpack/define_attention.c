#include "define_attention.h"

enum xnn_status xg_define_softmax(xnn_subgraph_t subgraph, uint32_t input, uint32_t out, struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_softmax(subgraph, input, out, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_attention(xnn_subgraph_t subgraph, float cap, uint32_t query, uint32_t key, uint32_t value,
                                    uint32_t scale, uint32_t mask, uint32_t out, struct xg_message* message) {
  xg_message_begin();
  const struct xnn_attention_logits_cap_tanh_params params = {.cap = cap};
  const enum xnn_attention_logits_cap_type type =
    cap == 0 ? xnn_attention_logits_cap_type_none : xnn_attention_logits_cap_type_tanh;
  const enum xnn_status status =
    xnn_define_scaled_dot_product_attention(subgraph, type, &params, query, key, value, scale, mask, out, 0);
  xg_message_end(message);
  return status;
}

enum xnn_status xg_define_rope(xnn_subgraph_t subgraph, size_t max_tokens, uint32_t input, uint32_t weights, uint32_t out,
                               struct xg_message* message) {
  xg_message_begin();
  const enum xnn_status status = xnn_define_rope(subgraph, max_tokens, input, weights, out, 0);
  xg_message_end(message);
  return status;
}
