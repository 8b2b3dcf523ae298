package xnnpack

// #include "bridge.h"
// static inline const char* archive_pins(void) { return xg_pins; }
// static inline const char* archive_stamp(void) { return xg_stamp; }
import "C"

import "fmt"

// wantStamp is the stamp of the archive that the build made for this checkout. stamp_gen.go, written with the archive,
// sets it; that also makes the go command link again, since it does not notice a changed archive by itself. Empty with
// -tags xnn_system, where any archive made from the same pins and patches will do.
var wantStamp string

// checkStamp reports an archive that is not the one this package was written for.
func checkStamp() error {
	if got := C.GoString(C.archive_pins()); got != pins {
		return fmt.Errorf("libxnn.a is stale: it was built from pins %.12s, this package needs %.12s; run ./build.sh native", got, pins)
	}
	if got := archiveStamp(); wantStamp != "" && got != wantStamp {
		return fmt.Errorf("libxnn.a is stale: its stamp is %.12s, the build made %.12s; run ./build.sh native", got, wantStamp)
	}
	return nil
}

// archiveStamp tells the linked archive from any other.
func archiveStamp() string { return C.GoString(C.archive_stamp()) }
