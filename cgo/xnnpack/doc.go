// Package xnnpack is the Go face of the XNNPACK this module builds and links: the only package with C in it.
//
// It adds no judgement of its own. XNNPACK trusts its caller, so what is given here must have been checked by package
// graph; in return everything that XNNPACK reports comes back as an error with its status and its message. C memory is
// owned by whoever asked for it, and counted ([Stats]).
package xnnpack
