package xnn

func init() {
	lowerings["Copy"] = lowering{
		api:         "xnn_define_copy",
		elementwise: true,
		joins:       true,
		define:      func(d *definition) error { return d.sub.Copy(d.ins[0], d.outs[0]) },
	}
}
