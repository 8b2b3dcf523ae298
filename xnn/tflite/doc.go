// Package tflite reads TensorFlow Lite's model files, identifier TFL3, into graphs.
//
// The network is the file's first subgraph. Every operator becomes one node of the graph, or a few, with what its options say:
// padding, fused activations, quantisation by tensor and by channel. An option with a value that cannot be honoured is an error,
// as is an operator that XNNPACK has nothing for; an error about operators names all that a file has. Operators whose results no
// output depends on are left out, and what depends on constants alone is computed here: half-precision weights behind DEQUANTIZE
// become Float32, sparse ones behind DENSIFY dense. Weights that are subnormal become zero; Graph.Flushed counts them.
//
// Inputs and outputs keep their order, and values the names they have in the file. A size that the file leaves open, -1 in
// shape_signature, is the one in its shape until a session is reshaped.
//
// INT8 and UINT8 tensors without a scale stand for themselves: scale 1, zero point 0. Where INT8 weights meet FLOAT32
// operands, those are quantised at run time, row by row or image by image, as TensorFlow Lite does; their zero point is free,
// whatever asymmetric_quantize_inputs says, which makes the result no less exact.
package tflite
