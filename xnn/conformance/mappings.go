package conformance

// mappings are ONNX's operators that XNNPACK has, or of which it has the parts.
var mappings map[string]func(im *importer)

func init() {
	mappings = map[string]func(im *importer){}
	for _, family := range []map[string]func(im *importer){
		unaryMappings, binaryMappings, reduceMappings, shapeMappings, imageMappings, matrixMappings, normMappings, quantMappings,
	} {
		for op, m := range family {
			mappings[op] = m
		}
	}
}
