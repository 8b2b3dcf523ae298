// Package graph holds a neural network as tensors and operators, checks it, and reads and writes it as an XNNGraph file.
//
// A [Graph] comes from the builder ([New]), from a file ([Unmarshal]) or from an importer of another format. However it
// was made, [Graph.Check] is the one place that decides whether it is right; nothing after it looks again. The package
// needs no C compiler: it reads, builds, checks and converts models anywhere.
//
// # Adding an operator
//
// An operator is a file of the same name on each floor that it touches, and touches no switch elsewhere.
//
//  1. op_name.go here: a struct of its parameters that implements [Op], whose infer compares them with the operands and gives
//     the shapes of the results; a call of register with how many operands it has, which element types go together, which
//     operands must be constants, and its tables in the dialects of the file; and a builder method. XNNPACK trusts what it is
//     told: what infer lets through must be safe to run. A table that no dialect has yet is appended to schema/xnngraph.fbs,
//     to the operators that are ours.
//  2. op_name.go in package xnn: an entry of lowerings under the operator's kind, with the function of xnnpack.h that runs it,
//     how a node is described to XNNPACK, which operands XNNPACK packs, and how many multiplications a node is, for those
//     that multiply matrices.
//  3. define_family.h, .c and .go in package cgo/xnnpack: the function itself, one call into C.
//
// Tests: each wrong parameter once, here; every combination of element types against an implementation that is not
// XNNPACK's, in package xnn; a file for each of its tables, in schema/testdata. What "xnn operators" prints, and with it the
// README, follows from what is registered.
package graph
