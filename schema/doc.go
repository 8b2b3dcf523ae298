// Package schema knows the file formats of models: the XNNGraph schema, a verifier for FlatBuffers of any schema, and the
// errors of the whole module.
//
// FlatBuffers are read in place, by following offsets that stand in the file. Go's runtime follows them unchecked and
// panics on a wrong one, so a file from outside goes through Verify first. After that the accessors of package xnngraph
// can be called on any part of it.
package schema
