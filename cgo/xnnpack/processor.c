#include "bridge.h"

#include <cpuinfo.h>
#include <string.h>

size_t xg_hardware(size_t capacity, unsigned char* out);  // added to XNNPACK by a patch of ours

size_t xg_processor(size_t capacity, unsigned char* out) {
  size_t n = xg_hardware(capacity, out);
  for (uint32_t i = 0; n != 0 && i < cpuinfo_get_uarchs_count() && capacity - n >= sizeof(uint32_t); i++) {
    const uint32_t uarch = cpuinfo_get_uarch(i)->uarch;
    memcpy(out + n, &uarch, sizeof(uarch));
    n += sizeof(uarch);
  }
  return n;
}
