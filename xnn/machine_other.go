//go:build !linux

package xnn

func physicalCores() int { return logicalCores() }

func cpuQuota() float64 { return 0 }

// defaultMemoryLimit is not known here: a quarter of a terabyte still stops what no machine can hold.
func defaultMemoryLimit() int64 { return 256 << 30 }

func (m *mapping) populate() {}
