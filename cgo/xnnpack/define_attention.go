package xnnpack

// #include "define_attention.h"
// #cgo noescape xg_define_softmax
// #cgo nocallback xg_define_softmax
// #cgo noescape xg_define_attention
// #cgo nocallback xg_define_attention
// #cgo noescape xg_define_rope
// #cgo nocallback xg_define_rope
import "C"

// Softmax adds a node that takes the softmax of x along its last dimension.
func (s *Subgraph) Softmax(x, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_softmax(s.c, C.uint32_t(x), C.uint32_t(out), &m), &m)
}

// Attention adds a node of scaled dot-product attention, its logits limited to cap*tanh(logits/cap) unless cap is 0. A runtime
// with such a node takes no shapes that change the node's result.
func (s *Subgraph) Attention(cap float32, query, key, value, scale, mask, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_attention(s.c, C.float(cap), C.uint32_t(query), C.uint32_t(key), C.uint32_t(value), C.uint32_t(scale),
		C.uint32_t(mask), C.uint32_t(out), &m), &m)
}

// RotaryEmbedding adds a node that rotates the channels of x by weights for so many tokens.
func (s *Subgraph) RotaryEmbedding(maxTokens int, x, weights, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_rope(s.c, C.size_t(maxTokens), C.uint32_t(x), C.uint32_t(weights), C.uint32_t(out), &m), &m)
}
