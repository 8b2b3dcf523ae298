// Package conformance holds the library against the test data of ONNX, which nobody here wrote: each case is a model with its
// inputs and the outputs that the authors of its operators expect. Debian ships it as libonnx-testdata; XNNGO_ONNX_TESTDATA names
// another folder of it.
//
// The package reads a case's protobuf, builds a graph for it as an importer would, runs it and compares. It runs it again from
// the file that Marshal writes, which must give the same bits, and the cases of single precision in half precision, too. It is no
// importer: it reads what the cases need, and leaves a case out, for a reason that is counted, where XNNPACK cannot say it.
//
// What it takes from ONNX, and how:
//
//   - ONNX's images are NCHW and stay so in the graph. Around an operator on images stand transposes to NHWC and back. Filters
//     are transposed by the reader.
//   - XNNPACK needs filters, shapes, axes, pads and the like as constants. Where the case passes one as an input, the input's
//     file is the constant.
//   - Shapes are static, so what a model computes from shapes alone (Shape, Size, ConstantOfShape and integers made of them) is
//     computed while reading.
//   - uint8 and int8 are quint8 and qint8 of scale 1 and zero point 0. Other integers and bool are int32, where they fit.
//   - An operator that XNNPACK has not, but that is made of those it has, is composed: LayerNormalization, ReduceMax (of max
//     pooling), Selu, Atan. What is whole but computed with real numbers, as MatMulInteger, is exact up to 2^24.
//   - An attribute that no mapping has looked at leaves the case out.
//
// Two numbers agree within 1e-5 of the expected one plus 1e-6, where ONNX's own runner allows 1e-3 plus 1e-7. Results of half
// precision may be off by 2e-3, quantised ones by a step; integers agree exactly. Where the case is of single precision but runs
// in half, 1e-2 plus 1e-2 tell a right result from a wrong one.
package conformance
