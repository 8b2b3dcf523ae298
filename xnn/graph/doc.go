// Package graph holds a neural network as tensors and operators, checks it, and reads and writes it as an XNNGraph file.
//
// A [Graph] comes from the builder ([New]), from a file ([Unmarshal]) or from an importer of another format. However it
// was made, [Graph.Check] is the one place that decides whether it is right; nothing after it looks again. The package
// needs no C compiler: it reads, builds, checks and converts models anywhere.
//
// Adding an operator takes one file here, op_name.go, with its parameters, its check and shape rule ([Op]) and its wire
// form (register), and one of the same name in package xnn with its lowering.
package graph
