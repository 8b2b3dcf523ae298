package conformance

// The attributes of the node. Asking for one marks it as understood.

func (im *importer) attribute(name string) (attribute, bool) {
	im.seen[name] = true
	a, ok := im.node.attributes[name]
	return a, ok
}

func (im *importer) int(name string, otherwise int) int {
	if a, ok := im.attribute(name); ok {
		return a.i
	}
	return otherwise
}

func (im *importer) float(name string, otherwise float32) float32 {
	if a, ok := im.attribute(name); ok {
		return a.f
	}
	return otherwise
}

func (im *importer) text(name, otherwise string) string {
	if a, ok := im.attribute(name); ok {
		return a.s
	}
	return otherwise
}

// ints is a list; nil where it is not there.
func (im *importer) ints(name string) []int {
	a, _ := im.attribute(name)
	return a.is
}

// ignore marks attributes that mean nothing to inference.
func (im *importer) ignore(names ...string) {
	for _, n := range names {
		im.seen[n] = true
	}
}

// only leaves the case out unless the attribute has this value.
func (im *importer) only(name string, want int) {
	if v := im.int(name, want); v != want {
		leaveOut(lacksAttribute, "%s %s=%d", im.node.op, name, v)
	}
}
